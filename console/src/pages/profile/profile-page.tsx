import { Alert, Button, DataList, Group, Paper, PasswordInput, Stack, Text, Title } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { useAccounts } from '../../api/accounts.ts'
import { MAX_CHOICES } from '../../api/list.ts'
import { useChangePassword, useSignedIn, useSignOut } from '../../api/session.ts'
import { Failure } from '../../ui/failure.tsx'
import { NewPassword } from '../../ui/new-password.tsx'
import { Page } from '../../ui/page.tsx'
import { SpendingList } from '../../ui/spending-list.tsx'
import { besidesFields, useFields } from '../../ui/use-fields.ts'

/** The user's profile, password and sessions. */
export function ProfilePage() {
  const { user, account, gateway } = useSignedIn()
  const signOut = useSignOut()
  const { rows: accounts = [] } = useAccounts(MAX_CHOICES)
  const own = accounts.find(({ id }) => id === account.id)
  const facts: readonly (readonly [name: string, value: ReactNode])[] = [
    ['Name', user.name],
    ['E-mail', user.email],
    ['Role', user.role === 'admin' ? 'Admin' : 'Member'],
    ['Account', account.name],
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
        <PasswordCard />
        <Paper withBorder p="md">
          <Title order={2} size="h5">
            Sessions
          </Title>
          <Text size="sm" c="dimmed" mt={4} mb="md">
            Ends all your sessions, including this one. API keys keep working.
          </Text>
          {signOut.error !== null && <Failure error={signOut.error} />}
          <Button variant="default" loading={signOut.isPending} onClick={() => signOut.mutate({ everywhere: true })}>
            Sign out everywhere
          </Button>
        </Paper>
      </Stack>
    </Page>
  )
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
