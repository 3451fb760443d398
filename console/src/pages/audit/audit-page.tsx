import { Button, Code, Stack, Text } from '@mantine/core'
import { IconDownload, IconHistory } from '@tabler/icons-react'
import { address } from '../../api/http.ts'
import { type AuditEntry, useAudit } from '../../api/operations.ts'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { EmptyMessage } from '../../ui/empty-message.tsx'
import { FilterBar } from '../../ui/filter-bar.tsx'
import { Name } from '../../ui/name.tsx'
import { useNow } from '../../ui/now.ts'
import { Page } from '../../ui/page.tsx'
import { RangeField } from '../../ui/range-field.tsx'
import { rangeChoices, spanOf } from '../../ui/ranges.ts'
import { SearchField } from '../../ui/search-field.tsx'
import { TimeAgo } from '../../ui/time-ago.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import { Changes } from './changes.tsx'

const COLUMNS: readonly Column<AuditEntry>[] = [
  { header: 'Action', cell: ({ action }) => <Code>{action}</Code> },
  { header: 'When', cell: ({ at }) => <TimeAgo at={at} /> },
  { header: 'Actor', cell: (row) => <Actor row={row} /> },
  { header: 'Object', cell: ({ object }) => <ObjectCell object={object} /> },
  { header: 'Changes', width: '42%', cell: ({ changes, accounts }) => <Changes changes={changes} accounts={accounts} /> },
]

const RANGE_CHOICES = rangeChoices('24h', '7d', '30d', '90d')

/** The audit trail. */
export function AuditPage() {
  const [filters, setFilters] = useFilters({ range: '30d', from: '', to: '', action: '', actor: '' })
  const { action, actor } = filters
  const query = { action, actor, ...spanOf(filters, useNow()) }
  const list = useAudit(query)
  const filtered = action !== '' || actor !== ''
  return (
    <Page
      title="Audit"
      about="Every sign-in, every change and every reload, and who made it. Entries cannot be changed or removed."
      actions={
        <Button
          component="a"
          href={address('/audit.csv', query)}
          download
          variant="default"
          leftSection={<IconDownload size={16} />}
        >
          CSV
        </Button>
      }
    >
      <FilterBar>
        <SearchField
          label="Action, such as key.create"
          value={action}
          onSearch={(text) => setFilters({ action: text.trim() })}
          width={240}
        />
        <SearchField label="Actor" value={actor} onSearch={(text) => setFilters({ actor: text.trim() })} width={200} />
        <RangeField value={filters} choices={RANGE_CHOICES} onChange={setFilters} />
      </FilterBar>
      <DataTable
        label="Audit trail"
        columns={COLUMNS}
        list={list}
        rowKey={({ id }) => id}
        empty={
          <EmptyMessage icon={IconHistory} title={filtered ? 'No matching entries' : 'No entries in this time range'}>
            {filtered ? 'Use fewer filters, or a longer time range.' : 'Choose a longer time range.'}
          </EmptyMessage>
        }
      />
    </Page>
  )
}

function Actor({ row: { actor, ip } }: { readonly row: AuditEntry }) {
  return (
    <Stack gap={0}>
      <Name>{actor?.name ?? 'Not signed in'}</Name>
      {ip !== null && (
        <Text size="xs" c="dimmed">
          {ip}
        </Text>
      )}
    </Stack>
  )
}

function ObjectCell({ object: { type, name } }: Pick<AuditEntry, 'object'>) {
  return (
    <Stack gap={0}>
      <Name>{name}</Name>
      <Text size="xs" c="dimmed">
        {type}
      </Text>
    </Stack>
  )
}
