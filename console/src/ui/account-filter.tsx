import { NativeSelect } from '@mantine/core'
import { useAccounts } from '../api/accounts.ts'
import { MAX_CHOICES } from '../api/list.ts'

/** Filters a list by account. */
export function AccountFilter({ value, onChange }: { readonly value: string; readonly onChange: (id: string) => void }) {
  const { rows = [] } = useAccounts(MAX_CHOICES)
  return (
    <NativeSelect
      aria-label="Account"
      data={[{ value: '', label: 'Any account' }, ...rows.map(({ id, name }) => ({ value: id, label: name }))]}
      value={value}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    />
  )
}
