import { NativeSelect, TextInput } from '@mantine/core'
import { useSignedIn } from '../../api/session.ts'
import { AccountFilter } from '../../ui/account-filter.tsx'
import { FilterBar } from '../../ui/filter-bar.tsx'
import { RangeField } from '../../ui/range-field.tsx'
import { rangeChoices, type Time } from '../../ui/ranges.ts'
import { METRICS } from './metrics.ts'

/** The filters, as the URL has them. */
export interface UsageFilters extends Time, Record<string, string> {
  /** `model`, `key`, `account` or `tag`. */
  readonly group: string
  /** The tag's name, where the group is `tag`. */
  readonly tag: string
  readonly account_id: string
  readonly metric: string
}

const RANGE_CHOICES = rangeChoices('24h', '7d', '30d', '90d')

/** The filters, and the handler of changes. */
export interface UsageFiltersBarProps {
  readonly filters: UsageFilters
  readonly onChange: (changes: Partial<UsageFilters>) => void
}

/** The time range, the grouping and the metric. */
export function UsageFiltersBar({ filters, onChange }: UsageFiltersBarProps) {
  const { user } = useSignedIn()
  const groups = [
    { value: 'model', label: 'By model' },
    { value: 'key', label: 'By key' },
    ...(user.role === 'admin' ? [{ value: 'account', label: 'By account' }] : []),
    { value: 'tag', label: 'By tag' },
  ]
  return (
    <FilterBar>
      <RangeField value={filters} choices={RANGE_CHOICES} onChange={onChange} />
      <NativeSelect
        aria-label="Group"
        data={groups}
        value={filters.group}
        onChange={({ currentTarget }) => onChange({ group: currentTarget.value })}
      />
      {user.role === 'admin' && <AccountFilter value={filters.account_id} onChange={(account_id) => onChange({ account_id })} />}
      {filters.group === 'tag' && (
        <TextInput
          aria-label="Tag"
          placeholder="team"
          w={120}
          value={filters.tag}
          onChange={({ currentTarget }) => onChange({ tag: currentTarget.value })}
        />
      )}
      <NativeSelect
        aria-label="Metric"
        data={Object.entries(METRICS).map(([value, label]) => ({ value, label }))}
        value={filters.metric}
        onChange={({ currentTarget }) => onChange({ metric: currentTarget.value })}
      />
    </FilterBar>
  )
}
