import { Text } from '@mantine/core'
import { useWindowEvent } from '@mantine/hooks'
import { type Session, useSession, useSignInAgain } from '../api/session.ts'
import { Dialog } from '../ui/dialog.tsx'
import { PasswordAgain } from './password-again.tsx'

/** Above every other dialog, which stays open. */
const Z_INDEX = 1000

/** Asks the user of an expired session to sign in again. What the page holds stays as it is. */
export function SignInAgain({ session }: { readonly session: Session }) {
  const { email } = session.user
  const { refetch } = useSession()
  const { mutate, error, isPending } = useSignInAgain()
  // The user may have signed in on another page.
  useWindowEvent('focus', () => void refetch())
  return (
    <Dialog
      title="Your session has expired"
      onClose={() => undefined}
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
      zIndex={Z_INDEX}
      size="sm"
    >
      <PasswordAgain
        session={session}
        submit="Sign in"
        error={error}
        isPending={isPending}
        onSubmit={(password) => mutate({ email: email ?? '', password })}
      >
        <Text size="sm">
          Sign in again as <b>{email}</b> to go on where you were. What you have typed is still there.
        </Text>
      </PasswordAgain>
    </Dialog>
  )
}
