import type { Store } from '../store/database.ts'

/** What people call a thing that the store knows by its id. */
export interface Named {
  readonly id: string
  readonly name: string
}

/** Names by ids, as they are now. */
export type Names = ReadonlyMap<string, string>

/** Keys of routes.yaml have no row, and their name in their id. */
const DECLARED = 'routes:'

/** The names of keys or accounts: of a page of them, since a database takes only so many parameters at once. */
export async function namesOf(store: Store, table: 'keys' | 'accounts', ids: readonly (string | null)[]): Promise<Names> {
  const wanted = [...new Set(ids)].filter((id) => id !== null)
  const names = new Map(wanted.map((id) => [id, id.startsWith(DECLARED) ? id.slice(DECLARED.length) : id]))
  if (wanted.length === 0) return names
  const rows = await store.read(store.db.selectFrom(table).select(['id', 'name']).where('id', 'in', wanted))
  for (const { id, name } of rows) names.set(id, name)
  return names
}

/** What the groups of usage are called. */
export async function labelsOf(store: Store, dimension: string, names: readonly string[]): Promise<Names> {
  const known = dimension === 'key' || dimension === 'account' ? await namesOf(store, `${dimension}s`, names) : []
  return new Map([...names.map((name): [string, string] => [name, name]), ...known, ['', 'none']])
}

/** A thing as others name it; null for none. */
export function named(id: string | null, names: Names): Named | null {
  return id === null ? null : { id, name: names.get(id) ?? id }
}
