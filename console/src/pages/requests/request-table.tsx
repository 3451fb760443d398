import { Anchor, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link, useLocation } from 'react-router'
import type { List } from '../../api/list.ts'
import type { RequestRow } from '../../api/requests.ts'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { dollars } from '../../ui/money.ts'
import { Name } from '../../ui/name.tsx'
import { exactly } from '../../ui/numbers.ts'
import { TimeAgo } from '../../ui/time-ago.tsx'
import { duration } from '../../ui/time-words.ts'
import styles from './request-table.module.css'
import { shortId } from './short-id.ts'
import { StatusCell } from './status-cell.tsx'

/** The state of a history entry that a row of the list has made: closing the details goes back to the list. */
export const FROM_LIST = { fromList: true }

/** Of a model and of what served it. */
const MODEL_CHARACTERS = 30

const COLUMNS: readonly Column<RequestRow>[] = [
  { header: 'Request', cell: ({ id }) => <RequestLink id={id} /> },
  { header: 'Time', cell: ({ at }) => <TimeAgo at={at} /> },
  { header: 'Key', cell: ({ key }) => (key === null ? <Text c="dimmed">None</Text> : <Name>{key.name}</Name>) },
  { header: 'Model', cell: (row) => <ModelCell row={row} /> },
  { header: 'Status', cell: (row) => <StatusCell row={row} /> },
  { header: 'First byte', end: true, spare: true, cell: ({ ms }) => (ms.first_byte === null ? '' : duration(ms.first_byte)) },
  { header: 'Total', end: true, cell: ({ ms }) => duration(ms.total) },
  { header: 'Tokens in', end: true, spare: true, cell: ({ tokens }) => tokens && exactly(tokens.input) },
  { header: 'Tokens out', end: true, cell: ({ tokens }) => tokens && `${tokens.estimated ? '~' : ''}${exactly(tokens.output)}` },
  { header: 'Cost', end: true, spare: true, cell: ({ tokens, cost }) => tokens && dollars(cost?.usd ?? null) },
]

/** A table of calls, with links to their details. */
export function RequestTable({ list, empty }: { readonly list: List<RequestRow>; readonly empty: ReactNode }) {
  return <DataTable label="Requests" columns={COLUMNS} list={list} rowKey={({ id }) => id} empty={empty} />
}

function RequestLink({ id }: { readonly id: string }) {
  const { search } = useLocation()
  return (
    <Anchor
      component={Link}
      to={{ pathname: `/requests/${id}`, search }}
      state={FROM_LIST}
      size="sm"
      ff="monospace"
      title={id}
      className={styles.id}
    >
      {shortId(id)}
    </Anchor>
  )
}

function ModelCell({ row: { model, alias, served, attempts } }: { readonly row: RequestRow }) {
  const servedAs = served === null ? undefined : `${served.namespace}/${served.model}`
  const fallbacks = attempts.length - 1
  const way = [
    ...(alias !== null && model !== null ? [model] : []),
    ...(servedAs !== undefined && servedAs !== model ? [servedAs] : []),
  ]
  const notes = [
    ...(fallbacks > 0 ? [`${attempts.length} attempts`] : []),
    ...(way.length > 0 ? [way.map((name) => `→ ${name}`).join(' ')] : []),
  ].join(' · ')
  return (
    <Stack gap={0}>
      <Name most={MODEL_CHARACTERS}>{alias ?? model ?? 'None'}</Name>
      {notes !== '' && (
        <Name most={MODEL_CHARACTERS} size="xs" c="dimmed">
          {notes}
        </Name>
      )}
    </Stack>
  )
}
