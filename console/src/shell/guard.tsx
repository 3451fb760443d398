import { Center, Container, Loader } from '@mantine/core'
import { Navigate, useLocation } from 'react-router'
import { useConfirmationAsked } from '../api/confirmation.ts'
import { useSession, useSessionExpired } from '../api/session.ts'
import { Failure } from '../ui/failure.tsx'
import { ConfirmIdentity } from './confirm-identity.tsx'
import { Shell } from './shell.tsx'
import { SignInAgain } from './sign-in-again.tsx'

/**
 * Shows pages to signed-in users only; others are redirected to sign in, and back after it. If the session expires, the page stays as it
 * is, below a dialog to sign in again; a change that needs the password again waits below another.
 */
export function Guard() {
  const { data: session, error, isPending, refetch } = useSession()
  const expired = useSessionExpired()
  const isConfirmationAsked = useConfirmationAsked()
  const { pathname, search } = useLocation()
  if (isPending)
    return (
      <Center mih="100dvh">
        <Loader size="sm" aria-label="Loading" />
      </Center>
    )
  if (session === null) return <Navigate to={`/sign-in?next=${encodeURIComponent(pathname + search)}`} replace />
  if (session === undefined)
    return (
      <Container size="xs" pt="20vh">
        {error !== null && <Failure error={error} title="The console cannot start" onRetry={() => void refetch()} />}
      </Container>
    )
  return (
    <>
      <Shell />
      {isConfirmationAsked && <ConfirmIdentity session={session} />}
      {expired && <SignInAgain session={session} />}
    </>
  )
}
