import { type Expression, type ExpressionBuilder, type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Store } from '../store/database.ts'
import { contains, mapPage, type Page, type PageOrder, type PageQuery, readPage } from '../store/page.ts'
import type { KeysTable, Schema } from '../store/schema.ts'
import type { KeyKind } from './format.ts'

/** A key without its secret. Times are milliseconds since 1970. */
export interface ApiKey {
  /** `key_…` */
  readonly id: string
  readonly account: { readonly id: string; readonly name: string }
  readonly name: string
  readonly kind: KeyKind
  /** The secret's first and last characters: `sk-live-7Fq2…9aXk`. */
  readonly masked: string
  readonly models: readonly string[]
  readonly rateClass?: string
  /** What it may spend: `20 USD/day`. */
  readonly budgets: readonly string[]
  /** Labels for usage and metrics, such as `team`. */
  readonly tags: Readonly<Record<string, string>>
  readonly createdAt: number
  readonly createdBy?: { readonly id: string; readonly name: string }
  readonly expiresAt?: number
  readonly revokedAt?: number
  readonly disabledAt?: number
  readonly lastUsedAt?: number
  /** The id of the key that it was rotated from. */
  readonly replaces?: string
  /** The id of the key that it was rotated to. */
  readonly replacedBy?: string
}

/** Selects keys with their accounts; `apiKeyOf` reads the rows. */
export function selectKeys(db: Kysely<Schema>) {
  return db
    .selectFrom('keys')
    .innerJoin('accounts', 'accounts.id', 'keys.account_id')
    .selectAll('keys')
    .select('accounts.name as account_name')
}

type KeyRow = KeysTable & { readonly account_name: string }

/** The key of a row of `selectKeys`. */
export function apiKeyOf(row: KeyRow): ApiKey {
  return {
    id: row.id,
    account: { id: row.account_id, name: row.account_name },
    name: row.name,
    kind: row.kind,
    masked: `${row.prefix_shown}…${row.last_four}`,
    models: JSON.parse(row.models),
    rateClass: row.rate_class ?? undefined,
    budgets: JSON.parse(row.budgets),
    tags: JSON.parse(row.tags),
    createdAt: row.created_at,
    createdBy: row.created_by === null ? undefined : { id: row.created_by, name: row.created_by_name ?? row.created_by },
    expiresAt: row.expires_at ?? undefined,
    revokedAt: row.revoked_at ?? undefined,
    disabledAt: row.disabled_at ?? undefined,
    lastUsedAt: row.last_used_at ?? undefined,
    replaces: row.replaces ?? undefined,
    replacedBy: row.replaced_by ?? undefined,
  }
}

/** What a key may be: accepted, not accepted until an admin enables it, or never again. */
export const KEY_STATUSES = ['active', 'disabled', 'expired', 'revoked'] as const

/** Whether a key is accepted now. */
export type KeyStatus = (typeof KEY_STATUSES)[number]

/** The status of a key, now: of several reasons why it is not accepted, the most lasting one. */
export function statusOf(key: Pick<ApiKey, 'revokedAt' | 'expiresAt' | 'disabledAt'>): KeyStatus {
  if (key.revokedAt !== undefined) return 'revoked'
  if (key.expiresAt !== undefined && key.expiresAt <= Date.now()) return 'expired'
  return key.disabledAt === undefined ? 'active' : 'disabled'
}

/** Selects keys. */
export interface KeyFilter extends PageQuery {
  /**
   * Part of the name or of the first characters; the last four; both with `…` between them; an id, which finds the rotations of the key
   * too; or a tag as `team=search`.
   */
  readonly q?: string
  readonly status?: KeyStatus
  readonly kind?: KeyKind
  /** The id of the owning account. */
  readonly account?: string
  readonly sort?: KeySort
  /** Leaves admin keys out, which only admins may see. */
  readonly withoutAdminKeys?: boolean
}

/** How a list of keys can be sorted: newest first, by name, last used first, next to expire first. */
export const KEY_SORTS = ['created', 'name', 'last_used', 'expires'] as const

type KeySort = (typeof KEY_SORTS)[number]

/** Later than any time of a key, in milliseconds since 1970. */
const NEVER = 900_000_000_000_000

/** What the other sorts compare. A key that was never used, or never expires, comes last. */
const ORDERS: Readonly<Record<Exclude<KeySort, 'created'>, Omit<PageOrder, 'column'> & { readonly by: RawBuilder<unknown> }>> = {
  name: { by: sql`lower(keys.name)`, type: 'text', direction: 'asc' },
  last_used: { by: sql`coalesce(keys.last_used_at, 0)`, type: 'number', direction: 'desc' },
  expires: { by: sql`coalesce(keys.expires_at, ${NEVER})`, type: 'number', direction: 'asc' },
}

/** Lists keys, revoked and expired ones too, newest first if no other order is asked for. */
export async function listKeys(store: Store, filter: KeyFilter = {}): Promise<Page<ApiKey>> {
  const { sort = 'created' } = filter
  const rows = selectKeys(store.db).where((row) => row.and(conditions(row, filter)))
  if (sort === 'created') return mapPage(await readPage(store, rows, filter), apiKeyOf)
  const { by, ...order } = ORDERS[sort]
  return mapPage(await readPage(store, rows.select(by.as('sorted')), filter, { ...order, column: 'sorted' }), apiKeyOf)
}

/** Whether there is any key, within the deadline of short queries. */
export const hasKeys = async ({ db }: Pick<Store, 'db'>): Promise<boolean> =>
  (await selectKeys(db).limit(1).executeTakeFirst()) !== undefined

/** The number of keys that a filter selects, of all pages. */
export async function countKeys(store: Store, filter: KeyFilter = {}): Promise<number> {
  const counted = store.db.selectFrom('keys').where((row) => row.and(conditions(row, filter)))
  const [row] = await store.read(counted.select(({ fn }) => fn.countAll<number | string>().as('count')))
  return Number(row!.count)
}

type Keys = ExpressionBuilder<Schema, 'keys'>

function conditions(row: Keys, { q, status, kind, account, withoutAdminKeys }: KeyFilter): Expression<SqlBool>[] {
  return [
    ...(q === undefined ? [] : [row.or(matches(row, q))]),
    ...(status === undefined ? [] : [hasStatus(row, status)]),
    ...(kind === undefined ? [] : [row('keys.kind', '=', kind)]),
    ...(account === undefined ? [] : [row('keys.account_id', '=', account)]),
    ...(withoutAdminKeys ? [row('keys.kind', '!=', 'admin')] : []),
  ]
}

/** What a search finds: whatever of a key is shown. */
function matches(row: Keys, q: string): Expression<SqlBool>[] {
  const [first, last] = q.split('…', 2)
  const [tag, value] = q.split(/=(.*)/s, 2)
  const ofId = (['keys.id', 'keys.replaces', 'keys.replaced_by'] as const).map((column) => row(column, '=', q))
  return [
    contains('keys.name', q),
    contains('keys.prefix_shown', q),
    row('keys.last_four', '=', q),
    ...(last === undefined ? [] : [row.and([row('keys.prefix_shown', '=', first!), row('keys.last_four', '=', last)])]),
    // The tags are JSON as the gateway writes it.
    ...(value === undefined ? [] : [contains('keys.tags', `${JSON.stringify(tag)}:${JSON.stringify(value).slice(0, -1)}`)]),
    ...ofId,
  ]
}

function hasStatus(row: Keys, status: KeyStatus): Expression<SqlBool> {
  const revoked = row('keys.revoked_at', 'is not', null)
  const expired = row('keys.expires_at', '<=', Date.now())
  if (status === 'revoked') return revoked
  const ended = row.and([row('keys.expires_at', 'is not', null), expired])
  if (status === 'expired') return row.and([row.not(revoked), ended])
  const disabled = row('keys.disabled_at', 'is not', null)
  return row.and([row.not(revoked), row.not(ended), status === 'disabled' ? disabled : row.not(disabled)])
}
