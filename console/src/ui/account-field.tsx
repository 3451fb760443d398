import { useAccountChoices } from './account-choices.ts'
import { SearchSelect } from './search-select.tsx'

/** Selects an account. */
export function AccountField({ value, onChange }: { readonly value: string; readonly onChange: (id: string) => void }) {
  return <SearchSelect label="Account" value={value} useChoices={useAccountChoices} onChange={onChange} />
}
