import { Alert, Button, Divider, PasswordInput, Skeleton, Stack, TextInput } from '@mantine/core'
import { Navigate, useSearchParams } from 'react-router'
import { useSession, useSignIn, useSignInMethods } from '../../api/session.ts'
import { Failure } from '../../ui/failure.tsx'
import { useFields } from '../../ui/use-fields.ts'
import { AuthCard } from './auth-card.tsx'

/** Signs in by password or by the OpenID provider, then continues to the requested page. */
export function SignInPage() {
  const [search] = useSearchParams()
  const { data: session } = useSession()
  const methods = useSignInMethods()
  const refused = search.get('error')
  if (session != null) return <Navigate to={placeWithin(search.get('next'))} replace />
  return (
    <AuthCard title="Sign in" about="API keys, usage and requests of your gateway.">
      {methods.data?.setup_needed && <SetupNeeded />}
      {refused !== null && <Refused code={refused} />}
      {methods.error !== null && <Failure error={methods.error} onRetry={() => void methods.refetch()} />}
      {methods.isPending && <Skeleton h={180} />}
      {methods.data !== undefined && !methods.data.setup_needed && (
        <Stack>
          {methods.data.oidc !== null && (
            <Button component="a" href={methods.data.oidc.path} variant="default" fullWidth>
              Continue with {methods.data.oidc.name}
            </Button>
          )}
          {methods.data.oidc !== null && methods.data.password && <Divider label="or" />}
          {methods.data.password && <PasswordForm />}
        </Stack>
      )}
    </AuthCard>
  )
}

/** Only paths of the console: a link must not redirect to another site. */
const placeWithin = (next: string | null): string => (next !== null && /^\/(?![/\\])/.test(next) ? next : '/')

/** The messages for a failed sign-in by the OpenID provider, by the code in the URL. */
const REFUSALS: Readonly<Record<string, string>> = {
  openid_refused: 'No user here has your e-mail address: ask an admin for an invitation to this address.',
  storage_unavailable: 'The gateway cannot reach its database. Try again shortly.',
}

function Refused({ code }: { readonly code: string }) {
  return (
    <Alert color="red" role="alert" mb="md">
      {REFUSALS[code] ?? 'Signing in failed. Try again.'}
    </Alert>
  )
}

function SetupNeeded() {
  return (
    <Alert title="There are no users yet">
      The gateway printed a one-time setup link when it started. Open it to become the first admin. If the link is lost or older
      than an hour, restart the gateway to get a new one.
    </Alert>
  )
}

function PasswordForm() {
  const signIn = useSignIn()
  const { values, text } = useFields({ email: '', password: '' })
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        signIn.mutate(values)
      }}
    >
      <Stack>
        {signIn.error !== null && <Failure error={signIn.error} />}
        <TextInput label="E-mail" type="email" autoComplete="username" required autoFocus {...text('email')} />
        <PasswordInput label="Password" autoComplete="current-password" required {...text('password')} />
        <Button type="submit" fullWidth loading={signIn.isPending}>
          Sign in
        </Button>
      </Stack>
    </form>
  )
}
