import { Alert, Anchor, Button, Skeleton, Stack, TextInput } from '@mantine/core'
import { Link, Navigate } from 'react-router'
import { type Session, useAcceptInvitation, useInvitedPerson, useSession, useSignOut } from '../../api/session.ts'
import { Failure } from '../../ui/failure.tsx'
import { NewPassword } from '../../ui/new-password.tsx'
import { besidesFields, useFields } from '../../ui/use-fields.ts'
import { AuthCard } from './auth-card.tsx'
import { useLinkToken } from './link-token.ts'

/** The page of an invitation's link: creates the invited user. */
export function InvitationPage() {
  const token = useLinkToken()
  const { data: session } = useSession()
  const person = useInvitedPerson(token)
  if (session != null) {
    // Accepting signs the invited person in; another user opened a link that is not theirs.
    return session.user.email === person.data?.email ? <Navigate to="/" replace /> : <SignedInAlready session={session} />
  }
  if (token === '' || person.error !== null) return <NoInvitation error={person.error} />
  return (
    <AuthCard
      title="Accept your invitation"
      about={
        person.data === undefined ? (
          <Skeleton h={14} />
        ) : (
          `You were invited to ${person.data.account.name} as ${person.data.email}.`
        )
      }
    >
      <AcceptForm token={token} email={person.data?.email ?? ''} />
    </AuthCard>
  )
}

function AcceptForm({ token, email }: { readonly token: string; readonly email: string }) {
  const accept = useAcceptInvitation()
  const { values, text } = useFields({ name: '', password: '' }, accept.error)
  const refusal = besidesFields(accept.error, Object.keys(values))
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        accept.mutate({ token, ...values })
      }}
    >
      <Stack>
        {refusal !== null && <Failure error={refusal} />}
        <TextInput label="E-mail" type="email" autoComplete="username" readOnly value={email} />
        <TextInput label="Your name" autoComplete="name" required autoFocus {...text('name')} />
        <NewPassword {...text('password')} />
        <Button type="submit" fullWidth loading={accept.isPending}>
          Join
        </Button>
      </Stack>
    </form>
  )
}

function SignedInAlready({ session: { user } }: { readonly session: Session }) {
  const signOut = useSignOut()
  return (
    <AuthCard
      title="Accept your invitation"
      about={`You are signed in as ${user.name}. Sign out to accept an invitation for another person.`}
    >
      <Button fullWidth loading={signOut.isPending} onClick={() => signOut.mutate({})}>
        Sign out and continue
      </Button>
    </AuthCard>
  )
}

function NoInvitation({ error }: { readonly error: Error | null }) {
  return (
    <AuthCard title="Accept your invitation">
      <Stack>
        {error === null ? (
          <Alert>This link is incomplete: its token is missing. Open the complete link that you received.</Alert>
        ) : (
          <Failure error={error} title="This invitation cannot be used" />
        )}
        <Anchor component={Link} to="/sign-in" size="sm">
          Already have an account? Sign in
        </Anchor>
      </Stack>
    </AuthCard>
  )
}
