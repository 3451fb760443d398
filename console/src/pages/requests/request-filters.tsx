import { NativeSelect } from '@mantine/core'
import { useKeys } from '../../api/keys.ts'
import { FilterBar } from '../../ui/filter-bar.tsx'
import { RangeField, type RangeFilters } from '../../ui/range-field.tsx'
import { rangeChoices } from '../../ui/ranges.ts'
import { SearchField } from '../../ui/search-field.tsx'
import { FAULTS } from './status-cell.tsx'

/** What the list is narrowed to, as the address says it. */
export interface RequestsFilters extends RangeFilters, Record<string, string> {
  readonly range: string
  readonly from: string
  readonly to: string
  readonly q: string
  readonly model: string
  readonly key_id: string
  readonly status: string
  readonly fault: string
  /** `1`: the tail instead of the list. */
  readonly live: string
}

const RANGE_CHOICES = rangeChoices('1h', '24h', '7d', '30d')

const FAULT_CHOICES = [
  { value: '', label: 'Any outcome' },
  ...Object.entries(FAULTS).map(([value, { label }]) => ({ value, label: `Fault: ${label.toLowerCase()}` })),
]

/** Search and filters above the list. */
export function RequestFiltersBar({
  filters,
  onChange,
}: {
  readonly filters: RequestsFilters
  readonly onChange: (changes: Partial<RequestsFilters>) => void
}) {
  const { rows: keys = [] } = useKeys()
  return (
    <FilterBar>
      <SearchField label="Request id" value={filters.q} onSearch={(q) => onChange({ q: q.trim() })} width={240} />
      <SearchField label="Model" value={filters.model} onSearch={(model) => onChange({ model: model.trim() })} width={200} />
      <NativeSelect
        aria-label="Key"
        data={[{ value: '', label: 'Any key' }, ...keys.map(({ id, name }) => ({ value: id, label: name }))]}
        value={filters.key_id}
        onChange={({ currentTarget }) => onChange({ key_id: currentTarget.value })}
      />
      <NativeSelect
        aria-label="Outcome"
        data={FAULT_CHOICES}
        value={filters.fault}
        onChange={({ currentTarget }) => onChange({ fault: currentTarget.value })}
      />
      <RangeField value={filters} choices={RANGE_CHOICES} onChange={onChange} />
    </FilterBar>
  )
}
