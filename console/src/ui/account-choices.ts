import { useAccount, useAccounts } from '../api/accounts.ts'
import type { Choice } from './search-select.tsx'

/** The choices of a field: more are found by typing. */
const SHOWN = 50

/** The accounts whose names contain a text, and the chosen one. */
export function useAccountChoices(search: string, value: string) {
  const { rows = [], stale } = useAccounts({ q: search, limit: SHOWN })
  const chosen = useAccount(rows.some(({ id }) => id === value) ? '' : value)
  return { choices: withChosen(rows, search === '' ? chosen.data : undefined), loading: stale }
}

/** Choices of named objects, with the chosen one if the list lacks it. */
function withChosen(rows: readonly Named[], chosen: Named | undefined): readonly Choice[] {
  const all = chosen === undefined || rows.some(({ id }) => id === chosen.id) ? rows : [chosen, ...rows]
  return all.map(({ id, name }) => ({ value: id, label: name }))
}

interface Named {
  readonly id: string
  readonly name: string
}
