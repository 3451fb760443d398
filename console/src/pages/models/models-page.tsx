import { Anchor, Badge, Code, Group, Text } from '@mantine/core'
import { IconBox } from '@tabler/icons-react'
import { Link } from 'react-router'
import { useShownPart, wholeList } from '../../api/list.ts'
import { type Model, useModels } from '../../api/models.ts'
import { CopyButton } from '../../ui/copy-button.tsx'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { EmptyMessage } from '../../ui/empty-message.tsx'
import { FilterBar } from '../../ui/filter-bar.tsx'
import { dollars } from '../../ui/money.ts'
import { exactly } from '../../ui/numbers.ts'
import { Page } from '../../ui/page.tsx'
import { SearchField } from '../../ui/search-field.tsx'
import { StatusLabel, type Tone } from '../../ui/status-label.tsx'
import { hourTime } from '../../ui/time-words.ts'
import { useFilters } from '../../ui/use-filters.ts'

const tokens = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })

const CONTEXT: Column<Model> = { header: 'Context', cell: ({ context_length }) => <Context length={context_length} /> }

const COLUMNS: readonly Column<Model>[] = [
  { header: 'Model', cell: ({ id, curated }) => <ModelName id={id} curated={curated} /> },
  { header: 'Owner', cell: ({ owned_by }) => owned_by },
  CONTEXT,
  { header: 'Price per million', cell: (model) => <Price model={model} /> },
  { header: 'Status', cell: (model) => <Availability model={model} /> },
  { header: 'Try', width: 120, cell: ({ id, available }) => available && <TryLink id={id} /> },
]

/** The models that the account may call, as far as they are named or discovered. */
export function ModelsPage() {
  const [{ q }, setFilters] = useFilters({ q: '' })
  const query = useModels()
  const fits = query.data?.data.filter(({ id }) => id.toLowerCase().includes(q.toLowerCase()))
  const isContextKnown = query.models.some(({ context_length }) => context_length !== undefined)
  return (
    <Page title="Models" about="The models that your account may call. A namespace may accept more models than it lists.">
      <FilterBar>
        <SearchField label="Search models" value={q} onSearch={(text) => setFilters({ q: text })} />
      </FilterBar>
      <DataTable
        label="Models"
        columns={isContextKnown ? COLUMNS : COLUMNS.filter((column) => column !== CONTEXT)}
        list={useShownPart(wholeList(query, fits))}
        rowKey={({ id }) => id}
        muted={({ available }) => !available}
        empty={q === '' ? <NoModels /> : <NoMatches q={q} />}
      />
    </Page>
  )
}

function ModelName({ id, curated }: Pick<Model, 'id' | 'curated'>) {
  return (
    <Group gap={6} wrap="nowrap">
      <Code>{id}</Code>
      <CopyButton text={id} what={`model id ${id}`} />
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

/** A curated model costs what its targets cost. What a budget refuses is told before it does. */
function Price({ model: { price, priced, curated, available } }: { readonly model: Model }) {
  if (price === null)
    return (
      <div>
        <Text size="sm" c="dimmed" span>
          {curated && priced ? 'By target' : 'Unknown'}
        </Text>
        {available && !priced && (
          <Text size="xs" c="dimmed">
            Budgets refuse it
          </Text>
        )}
      </div>
    )
  const { input_usd, output_usd, name } = price
  if (Number(input_usd) + Number(output_usd) === 0) return <span title={name}>Free</span>
  const amounts = [input_usd === null ? '' : `${dollars(input_usd)} in`, output_usd === null ? '' : `${dollars(output_usd)} out`]
  return <span title={name}>{amounts.filter((amount) => amount !== '').join(', ')}</span>
}

/** Whether a model can be asked for, and how the account's last calls of it went. */
function Availability({ model }: { readonly model: Model }) {
  const { available, why, recent } = model
  const { label, tone } = stateOf(model)
  const note = why ?? (recent && `${exactly(recent.errors)} of ${calls(recent.requests)} failed since ${hourTime(recent.since)}`)
  return (
    <div>
      <StatusLabel tone={tone}>{label}</StatusLabel>
      {note !== undefined && (!available || recent!.errors > 0) && (
        <Text size="xs" c="dimmed">
          {note}
        </Text>
      )}
    </div>
  )
}

function stateOf({ available, recent }: Model): { readonly label: string; readonly tone: Tone } {
  if (!available) return { label: 'Not available', tone: 'quiet' }
  const { requests, errors } = recent ?? { requests: 0, errors: 0 }
  if (requests >= VERDICT && errors === requests) return { label: 'Failing', tone: 'bad' }
  return { label: 'Available', tone: errors * MANY >= requests && errors > 0 ? 'warning' : 'good' }
}

/** The fewest calls by which a model is called failing. */
const VERDICT = 3

/** One failure in this number of calls is a warning. */
const MANY = 10

const calls = (count: number): string => (count === 1 ? '1 call' : `${exactly(count)} calls`)

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
    <EmptyMessage icon={IconBox} title="No models yet">
      Set the credentials of a provider and restart the gateway, or ask an admin to allow more models for your account.
    </EmptyMessage>
  )
}

function NoMatches({ q }: { readonly q: string }) {
  return (
    <EmptyMessage icon={IconBox} title={`No model matches "${q}"`}>
      Model ids have the form namespace/model.
    </EmptyMessage>
  )
}
