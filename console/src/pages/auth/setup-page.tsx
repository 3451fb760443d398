import { Alert, Button, Stack, TextInput } from '@mantine/core'
import { Navigate } from 'react-router'
import { useSession, useSetup } from '../../api/session.ts'
import { Failure } from '../../ui/failure.tsx'
import { NewPassword } from '../../ui/new-password.tsx'
import { besidesFields, useFields } from '../../ui/use-fields.ts'
import { AuthCard } from './auth-card.tsx'
import { useLinkToken } from './link-token.ts'

/** The page of the setup link: creates the first admin. */
export function SetupPage() {
  const token = useLinkToken()
  const { data: session } = useSession()
  const setup = useSetup()
  const { values, text } = useFields({ name: '', email: '', password: '' }, setup.error)
  const refusal = besidesFields(setup.error, Object.keys(values))
  if (session != null) return <Navigate to="/" replace />
  if (token === '') return <NoToken />
  return (
    <AuthCard title="Set up your gateway" about="You become the first admin. All other users join by invitation.">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          setup.mutate({ token, ...values })
        }}
      >
        <Stack>
          {refusal !== null && <Failure error={refusal} />}
          <TextInput label="Your name" autoComplete="name" required autoFocus {...text('name')} />
          <TextInput label="E-mail" type="email" autoComplete="username" required {...text('email')} />
          <NewPassword {...text('password')} />
          <Button type="submit" fullWidth loading={setup.isPending}>
            Create admin
          </Button>
        </Stack>
      </form>
    </AuthCard>
  )
}

function NoToken() {
  return (
    <AuthCard title="Set up your gateway">
      <Alert>
        This link is incomplete: its token is missing. Open the complete setup link that the gateway printed at its start.
      </Alert>
    </AuthCard>
  )
}
