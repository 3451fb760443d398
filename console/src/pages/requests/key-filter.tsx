import { type ApiKey, useKey, useKeys } from '../../api/keys.ts'
import { SearchSelect } from '../../ui/search-select.tsx'

/** The choices of the field: more are found by typing. */
const SHOWN = 50

/** Filters calls by key, which is found by whatever the list of keys shows of it. */
export function KeyFilter({ value, onChange }: { readonly value: string; readonly onChange: (id: string) => void }) {
  return <SearchSelect label="Key" any="Any key" value={value} useChoices={useKeyChoices} onChange={onChange} />
}

function useKeyChoices(search: string, value: string) {
  const { rows = [], stale } = useKeys({ q: search, limit: SHOWN })
  const chosen = useKey(rows.some(({ id }) => id === value) ? '' : value).data
  const all = chosen === undefined || search !== '' || rows.some(({ id }) => id === value) ? rows : [chosen, ...rows]
  return { choices: all.map((key) => ({ value: key.id, label: labelOf(key, all) })), loading: stale }
}

/** Several keys may have one name. */
function labelOf({ name, masked }: ApiKey, all: readonly ApiKey[]): string {
  return all.filter((key) => key.name === name).length > 1 ? `${name} (${masked})` : name
}
