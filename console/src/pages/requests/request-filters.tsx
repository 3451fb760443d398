import { NativeSelect } from '@mantine/core'
import { useSignedIn } from '../../api/session.ts'
import { AccountFilter } from '../../ui/account-filter.tsx'
import { FilterBar } from '../../ui/filter-bar.tsx'
import { ModelFilter } from '../../ui/model-filter.tsx'
import { RangeField } from '../../ui/range-field.tsx'
import { rangeChoices, type Time } from '../../ui/ranges.ts'
import { SearchField } from '../../ui/search-field.tsx'
import { KeyFilter } from './key-filter.tsx'
import { FAULTS } from './status-cell.tsx'

/** The filters, as the URL has them. */
export interface RequestsFilters extends Time, Record<string, string> {
  readonly q: string
  readonly model: string
  readonly key_id: string
  readonly account_id: string
  readonly fault: string
  /** `1`: the live tail in place of the list. */
  readonly live: string
}

const RANGE_CHOICES = rangeChoices('1h', '24h', '7d', '30d')

const FAULT_CHOICES = [
  { value: '', label: 'Any outcome' },
  ...Object.entries(FAULTS).map(([value, { label }]) => ({ value, label: `Fault: ${label.toLowerCase()}` })),
]

/** The filters, and the handler of changes. */
export interface RequestFiltersBarProps {
  readonly filters: RequestsFilters
  readonly onChange: (changes: Partial<RequestsFilters>) => void
}

/** The filters above the list. */
export function RequestFiltersBar({ filters, onChange }: RequestFiltersBarProps) {
  const { user } = useSignedIn()
  return (
    <FilterBar>
      <SearchField label="Request id" value={filters.q} onSearch={(q) => onChange({ q: q.trim() })} width={220} />
      <ModelFilter value={filters.model} onChange={(model) => onChange({ model: model.trim() })} />
      <KeyFilter value={filters.key_id} onChange={(key_id) => onChange({ key_id })} />
      {user.role === 'admin' && <AccountFilter value={filters.account_id} onChange={(account_id) => onChange({ account_id })} />}
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
