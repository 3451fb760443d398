import { Text } from '@mantine/core'
import { useWindowEvent } from '@mantine/hooks'
import { answerConfirmation } from '../api/confirmation.ts'
import { type Session, useConfirm, useSession } from '../api/session.ts'
import { Dialog } from '../ui/dialog.tsx'
import { PasswordAgain } from './password-again.tsx'

/** Above the dialog of the change that waits for it. */
const Z_INDEX = 900

/** Asks for the password again, for a change that gives rights. The change is made after that, or fails if the dialog is closed. */
export function ConfirmIdentity({ session }: { readonly session: Session }) {
  const { refetch } = useSession()
  const { mutate, error, isPending } = useConfirm()
  // The user may have signed in at the OpenID provider, in another tab.
  useWindowEvent('focus', async () => {
    const { data } = await refetch()
    if (Date.parse(data?.confirmed_until ?? '') > Date.now()) answerConfirmation(true)
  })
  return (
    <Dialog title="Confirm that it is you" onClose={() => answerConfirmation(false)} zIndex={Z_INDEX} size="sm">
      <PasswordAgain
        session={session}
        submit="Confirm"
        query="?again=true"
        error={error}
        isPending={isPending}
        onSubmit={(password) => mutate({ password }, { onSuccess: () => answerConfirmation(true) })}
      >
        <Text size="sm">
          This change gives rights. {session.user.has_password ? 'Enter the password of' : 'Sign in again as'}{' '}
          <b>{session.user.email}</b>: you did so last more than 15 minutes ago.
        </Text>
      </PasswordAgain>
    </Dialog>
  )
}
