import { Anchor, Badge, Code, Group, Text } from '@mantine/core'
import { IconBox } from '@tabler/icons-react'
import { Link } from 'react-router'
import { wholeList } from '../../api/list.ts'
import { type Model, useModels } from '../../api/models.ts'
import { CopyButton } from '../../ui/copy-button.tsx'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { FilterBar } from '../../ui/filter-bar.tsx'
import { Nothing } from '../../ui/nothing.tsx'
import { Page } from '../../ui/page.tsx'
import { SearchField } from '../../ui/search-field.tsx'
import { StatusLabel } from '../../ui/status-label.tsx'
import { useFilters } from '../../ui/use-filters.ts'

const tokens = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })

const COLUMNS: readonly Column<Model>[] = [
  { header: 'Model', cell: ({ id, curated }) => <ModelName id={id} curated={curated} /> },
  { header: 'Owner', cell: ({ owned_by }) => owned_by },
  { header: 'Context', cell: ({ context_length }) => <Context length={context_length} /> },
  { header: 'Status', cell: (model) => <Availability model={model} /> },
  { header: 'Try', width: 120, cell: ({ id, available }) => available && <TryLink id={id} /> },
]

/** The models that the account may call, as far as they are named or found. */
export function ModelsPage() {
  const [{ q }, setFilters] = useFilters({ q: '' })
  const query = useModels()
  const fits = query.data?.data.filter(({ id }) => id.toLowerCase().includes(q.toLowerCase()))
  return (
    <Page title="Models" about="What your account may call. A namespace may pass on more names than it lists.">
      <FilterBar>
        <SearchField label="Search models" value={q} onSearch={(text) => setFilters({ q: text })} />
      </FilterBar>
      <DataTable
        label="Models"
        columns={COLUMNS}
        list={wholeList(query, fits)}
        rowKey={({ id }) => id}
        muted={({ available }) => !available}
        empty={q === '' ? <NoModels /> : <NoneFits q={q} />}
      />
    </Page>
  )
}

function ModelName({ id, curated }: Pick<Model, 'id' | 'curated'>) {
  return (
    <Group gap={6} wrap="nowrap">
      <Code>{id}</Code>
      <CopyButton text={id} what={`name of ${id}`} />
      {curated && (
        <Badge size="sm" variant="light" tt="none">
          Curated
        </Badge>
      )}
    </Group>
  )
}

function Context({ length }: { readonly length: number | undefined }) {
  if (length === undefined)
    return (
      <Text size="sm" c="dimmed" span>
        Unknown
      </Text>
    )
  return <span title={`${length} tokens`}>{tokens.format(length)}</span>
}

function Availability({ model: { available, why } }: { readonly model: Model }) {
  return (
    <div>
      <StatusLabel tone={available ? 'good' : 'quiet'}>{available ? 'Available' : 'Not available'}</StatusLabel>
      {why !== undefined && (
        <Text size="xs" c="dimmed">
          {why}
        </Text>
      )}
    </div>
  )
}

function TryLink({ id }: { readonly id: string }) {
  return (
    <Anchor
      component={Link}
      to={`/playground?model=${encodeURIComponent(id)}`}
      size="sm"
      aria-label={`Try ${id} in the playground`}
    >
      Playground
    </Anchor>
  )
}

function NoModels() {
  return (
    <Nothing icon={IconBox} title="No models yet">
      Set a provider's credential and start the gateway again, or ask an admin to widen what your account may call.
    </Nothing>
  )
}

function NoneFits({ q }: { readonly q: string }) {
  return (
    <Nothing icon={IconBox} title={`No model is called "${q}"`}>
      Models are written namespace/model.
    </Nothing>
  )
}
