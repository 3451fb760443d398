import { Alert, Button, DataList, Group, Paper, PasswordInput, Stack, Text, Title } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { type Account, useAccount } from '../../api/accounts.ts'
import { useChangePassword, useSignedIn, useSignOut } from '../../api/session.ts'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { Failure } from '../../ui/failure.tsx'
import { spent } from '../../ui/money.ts'
import { NewPassword } from '../../ui/new-password.tsx'
import { Page } from '../../ui/page.tsx'
import { SpendingList } from '../../ui/spending-list.tsx'
import { besidesFields, useFields } from '../../ui/use-fields.ts'
import { endHeldKey } from '../playground/key-memory.ts'

/** The user's profile, password and sessions. */
export function ProfilePage() {
  const { user, account, gateway } = useSignedIn()
  const signOut = useSignOut()
  const [leaving, setLeaving] = useState(false)
  const { data: own } = useAccount(account.id)
  const facts: readonly (readonly [name: string, value: ReactNode])[] = [
    ['Name', user.name],
    ['E-mail', user.email],
    ['Role', user.role === 'admin' ? 'Admin' : 'Member'],
    ['Signs in', user.has_password ? 'by password' : 'by the OpenID provider; there is no password here'],
    ['Account', account.name],
    ['Cost', own === undefined ? '' : `${spent({ cost_usd: own.cost.usd, unpriced: own.cost.unpriced })} in the last 30 days`],
    ['Limits', own === undefined ? '' : limitsOf(own)],
    ['Budgets', <SpendingList key="budgets" spending={own?.spending ?? []} />],
    ['Gateway', `version ${gateway.version}`],
  ]
  return (
    <Page title="Your profile">
      <Stack maw={560} gap="xl">
        <DataList labelWidth={110} gap={8}>
          {facts.map(([name, value]) => (
            <DataList.Item key={name}>
              <DataList.ItemLabel>{name}</DataList.ItemLabel>
              <DataList.ItemValue>{value}</DataList.ItemValue>
            </DataList.Item>
          ))}
        </DataList>
        {user.has_password && <PasswordCard />}
        <Paper withBorder p="md">
          <Title order={2} size="h5">
            Sessions
          </Title>
          <Text size="sm" c="dimmed" mt={4} mb="md">
            Ends all your sessions, including this one. API keys keep working.
          </Text>
          <Button variant="default" onClick={() => setLeaving(true)}>
            Sign out everywhere
          </Button>
          {leaving && (
            <ConfirmDialog
              title="Sign out everywhere"
              action="Sign out"
              pending={signOut.isPending}
              refusal={signOut.error}
              onSubmit={() => void endHeldKey().then(() => signOut.mutate({ everywhere: true }))}
              onClose={() => setLeaving(false)}
            >
              All sessions of <b>{user.email}</b> end, on this computer and on every other.
            </ConfirmDialog>
          )}
        </Paper>
      </Stack>
    </Page>
  )
}

function limitsOf({ rate_class, max_keys, key_days }: Account): string {
  const life = key_days === null ? '' : `, each for ${key_days} days at most`
  return `rate class ${rate_class ?? 'default'}, at most ${max_keys} keys${life}`
}

const EMPTY = { current: '', new: '' }

function PasswordCard() {
  const change = useChangePassword()
  const { values, set, text } = useFields(EMPTY, change.error)
  const [done, setDone] = useState(false)
  const refusal = besidesFields(change.error, Object.keys(EMPTY))

  function submit(): void {
    setDone(false)
    change.mutate(values, {
      onSuccess: () => {
        set('current', '')
        set('new', '')
        setDone(true)
      },
    })
  }

  return (
    <Paper withBorder p="md">
      <Title order={2} size="h5" mb="md">
        Password
      </Title>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          submit()
        }}
      >
        <Stack>
          {refusal !== null && <Failure error={refusal} />}
          {done && <Alert color="green">Password changed. Your other sessions have ended.</Alert>}
          <PasswordInput label="Current password" autoComplete="current-password" required {...text('current')} />
          <NewPassword label="New password" {...text('new')} />
          <Group>
            <Button type="submit" loading={change.isPending}>
              Change password
            </Button>
          </Group>
        </Stack>
      </form>
    </Paper>
  )
}
