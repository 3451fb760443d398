import { Select } from '@mantine/core'
import { useAccounts } from '../api/accounts.ts'
import { MAX_CHOICES } from '../api/list.ts'

/** Selects an account. */
export function AccountField({ value, onChange }: { readonly value: string; readonly onChange: (id: string) => void }) {
  const { rows = [] } = useAccounts(MAX_CHOICES)
  return (
    <Select
      label="Account"
      data={rows.map(({ id, name }) => ({ value: id, label: name }))}
      value={value}
      onChange={(id) => id !== null && onChange(id)}
      searchable
      allowDeselect={false}
      required
    />
  )
}
