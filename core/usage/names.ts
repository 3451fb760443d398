import type { Store } from '../store/database.ts'

/** An object of the store by id and name. */
export interface Named {
  readonly id: string
  readonly name: string
}

/** Current names by id. */
type Names = ReadonlyMap<string, string>

/** Keys of routes.yaml have no row; the id contains the name. */
const ROUTES_KEY_PREFIX = 'routes:'

/** The names of keys or accounts, for one page of ids: a database limits the parameters of a statement. */
export async function namesOf(store: Store, table: 'keys' | 'accounts', ids: readonly (string | null)[]): Promise<Names> {
  const wanted = [...new Set(ids)].filter((id) => id !== null)
  const names = new Map(wanted.map((id) => [id, id.startsWith(ROUTES_KEY_PREFIX) ? id.slice(ROUTES_KEY_PREFIX.length) : id]))
  if (wanted.length === 0) return names
  const rows = await store.read(store.db.selectFrom(table).select(['id', 'name']).where('id', 'in', wanted))
  for (const { id, name } of rows) names.set(id, name)
  return names
}

/** The labels of groups of usage, by name. */
export async function labelsOf(store: Store, dimension: string, names: readonly string[]): Promise<Names> {
  const known = dimension === 'key' || dimension === 'account' ? await namesOf(store, `${dimension}s`, names) : []
  return new Map([...names.map((name): [string, string] => [name, name]), ...known, ['', 'none']])
}

/** An object by id and name; null without an id. */
export function named(id: string | null, names: Names): Named | null {
  return id === null ? null : { id, name: names.get(id) ?? id }
}
