import { useAccountChoices } from './account-choices.ts'
import { SearchSelect } from './search-select.tsx'

/** Filters a list by account. */
export function AccountFilter({ value, onChange }: { readonly value: string; readonly onChange: (id: string) => void }) {
  return <SearchSelect label="Account" any="Any account" value={value} useChoices={useAccountChoices} onChange={onChange} />
}
