import { Badge, Button, Code, Group, Stack, Text } from '@mantine/core'
import { IconKey, IconPlus } from '@tabler/icons-react'
import { type ApiKey, isDeclared, type KeyStatus } from '../../api/keys.ts'
import type { List } from '../../api/list.ts'
import { useSignedIn } from '../../api/session.ts'
import { CostCell } from '../../ui/cost-cell.tsx'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { EmptyMessage } from '../../ui/empty-message.tsx'
import { GlobList } from '../../ui/glob-list.tsx'
import type { Selection } from '../../ui/selection.tsx'
import { StatusLabel, type Tone } from '../../ui/status-label.tsx'
import { TimeAgo } from '../../ui/time-ago.tsx'
import { inChains, KeyChain } from './key-chain.tsx'
import { KeyMenu, type KeyMenuProps } from './key-menu.tsx'
import styles from './key-table.module.css'
import { KINDS } from './kinds.ts'

const TONES: Readonly<Record<KeyStatus, Tone>> = { active: 'good', disabled: 'warning', expired: 'warning', revoked: 'quiet' }

const WORDS: Readonly<Record<KeyStatus, string>> = {
  active: 'Active',
  disabled: 'Disabled',
  expired: 'Expired',
  revoked: 'Revoked',
}

/** The keys, and the actions on each. */
export interface KeyTableProps extends Omit<KeyMenuProps, 'apiKey'> {
  readonly list: List<ApiKey>
  readonly selection: Selection<ApiKey>
  /** Whether filters are set: then an empty list does not mean that there are no keys. */
  readonly filtered: boolean
  readonly onCreate: () => void
}

/** The table of keys. */
export function KeyTable({ list, selection, filtered, onCreate, ...menu }: KeyTableProps) {
  const { user } = useSignedIn()
  const columns: readonly Column<ApiKey>[] = [
    {
      header: 'Name',
      cell: (key) => <KeyName apiKey={key} rows={list.rows ?? []} withAccount={user.role === 'admin'} />,
    },
    { header: 'Key', cell: (key) => <MaskedKey apiKey={key} /> },
    { header: 'Models', cell: ({ models }) => <GlobList globs={models} /> },
    { header: 'Cost, 30 days', spare: true, cell: (key) => <CostCell {...key} /> },
    { header: 'Created', spare: true, width: 120, cell: (key) => <Created apiKey={key} /> },
    { header: 'Last used', cell: (key) => <TimeAgo at={key.last_used_at} never={isDeclared(key) ? 'Unknown' : 'Never'} /> },
    { header: 'Expires', cell: ({ expires_at }) => <TimeAgo at={expires_at} planned /> },
    { header: 'Status', cell: ({ status }) => <StatusLabel tone={TONES[status]}>{WORDS[status]}</StatusLabel> },
    { header: '', width: 48, cell: (key) => <KeyMenu apiKey={key} {...menu} /> },
  ]
  return (
    <DataTable
      label="API keys"
      columns={columns}
      list={{ ...list, rows: list.rows && inChains(list.rows) }}
      rowKey={({ id }) => id}
      muted={({ status }) => status !== 'active'}
      selection={selection}
      empty={filtered ? <NoMatches /> : <NoneYet onCreate={onCreate} />}
    />
  )
}

interface KeyNameProps {
  readonly apiKey: ApiKey
  readonly rows: readonly ApiKey[]
  readonly withAccount: boolean
}

function KeyName({ apiKey, rows, withAccount }: KeyNameProps) {
  const { name, account, tags, rate_class } = apiKey
  const limits = rate_class === null ? [] : [`class ${rate_class}`]
  const details = [
    ...(withAccount ? [account.name] : []),
    ...limits,
    ...Object.entries(tags).map(([tag, value]) => `${tag}=${value}`),
  ].join(' · ')
  return (
    <Stack gap={0}>
      <Text size="sm" fw={500} lineClamp={2}>
        {name}
      </Text>
      {details !== '' && (
        <Text size="xs" c="dimmed" lineClamp={1} title={details}>
          {details}
        </Text>
      )}
      <KeyChain apiKey={apiKey} rows={rows} />
    </Stack>
  )
}

function MaskedKey({ apiKey: { kind, masked } }: { readonly apiKey: ApiKey }) {
  const { label, color } = KINDS[kind]
  return (
    <Group gap="2px 6px">
      <Badge size="sm" variant="light" color={color} tt="none" miw={44} flex="none">
        {label}
      </Badge>
      <Code className={styles.face}>{masked}</Code>
    </Group>
  )
}

function Created({ apiKey: { created_at, created_by } }: { readonly apiKey: ApiKey }) {
  // A key of routes.yaml has neither.
  if (created_at === null) return null
  return (
    <Stack gap={0}>
      <TimeAgo at={created_at} />
      {created_by !== null && (
        <Text size="xs" c="dimmed" lineClamp={1} title={created_by.name}>
          by {created_by.name}
        </Text>
      )}
    </Stack>
  )
}

function NoneYet({ onCreate }: { readonly onCreate: () => void }) {
  return (
    <EmptyMessage
      icon={IconKey}
      title="No API keys yet"
      action={
        <Button size="sm" leftSection={<IconPlus size={16} />} onClick={onCreate}>
          Create your first key
        </Button>
      }
    >
      With a key, any OpenAI client can call the models of your account. Calls with a test key are answered by the sandbox: free
      and offline.
    </EmptyMessage>
  )
}

function NoMatches() {
  return (
    <EmptyMessage icon={IconKey} title="No matching keys">
      Search by name, by the first characters or the last four, by a tag such as team=search, or paste a key; or choose another
      status.
    </EmptyMessage>
  )
}
