import { Button, PasswordInput, Stack, Text } from '@mantine/core'
import { useWindowEvent } from '@mantine/hooks'
import { useState } from 'react'
import { type Session, useSession, useSignInAgain, useSignInMethods } from '../api/session.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Failure } from '../ui/failure.tsx'

/** Above every other dialog, which stays open. */
const Z_INDEX = 1000

/** Asks the user of an expired session to sign in again. What the page holds stays as it is. */
export function SignInAgain({ session }: { readonly session: Session }) {
  const { user } = session
  const methods = useSignInMethods()
  const { refetch } = useSession()
  const signIn = useSignInAgain()
  const [password, setPassword] = useState('')
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
      <form
        onSubmit={(event) => {
          event.preventDefault()
          signIn.mutate({ email: user.email ?? '', password })
        }}
      >
        <Stack>
          <Text size="sm">
            Sign in again as <b>{user.email}</b> to go on where you were. What you have typed is still there.
          </Text>
          {signIn.error !== null && <Failure error={signIn.error} />}
          {methods.data?.oidc != null && (
            <Button component="a" href={methods.data.oidc.path} target="_blank" variant="default" fullWidth>
              Continue with {methods.data.oidc.name}, in a new tab
            </Button>
          )}
          {methods.data?.password !== false && (
            <>
              <input type="hidden" autoComplete="username" value={user.email ?? ''} readOnly />
              <PasswordInput
                label="Password"
                autoComplete="current-password"
                required
                data-autofocus
                value={password}
                onChange={({ currentTarget }) => setPassword(currentTarget.value)}
              />
              <Button type="submit" fullWidth loading={signIn.isPending}>
                Sign in
              </Button>
            </>
          )}
        </Stack>
      </form>
    </Dialog>
  )
}
