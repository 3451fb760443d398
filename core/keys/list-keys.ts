import type { Expression, ExpressionBuilder, SqlBool } from 'kysely'
import type { Store } from '../store/database.ts'
import { contains } from '../store/like.ts'
import { mapPage, type Page, type PageQuery, readPage } from '../store/page.ts'
import type { Schema } from '../store/schema.ts'
import { type ApiKey, apiKeyOf, type KeyStatus, selectKeys } from './api-key.ts'
import type { KeyKind } from './key.ts'

/** Which keys are asked for. */
export interface KeyFilter extends PageQuery {
  /** Part of the name or of the first characters, or the last four. */
  readonly q?: string
  readonly status?: KeyStatus
  readonly kind?: KeyKind
  /** Only of this account. */
  readonly account?: string
  /** Leaves out the keys that manage the gateway: those are for admins to see. */
  readonly withoutAdminKeys?: boolean
}

/** Lists keys, revoked and expired ones too, newest first. */
export async function listKeys(store: Store, filter: KeyFilter = {}): Promise<Page<ApiKey>> {
  const rows = selectKeys(store.db).where((row) => row.and(conditions(row, filter)))
  return mapPage(await readPage(store, rows, filter), apiKeyOf)
}

type Keys = ExpressionBuilder<Schema, 'keys'>

function conditions(row: Keys, { q, status, kind, account, withoutAdminKeys }: KeyFilter): Expression<SqlBool>[] {
  return [
    ...(q === undefined
      ? []
      : [row.or([contains('keys.name', q), contains('keys.prefix_shown', q), row('keys.last_four', '=', q)])]),
    ...(status === undefined ? [] : [hasStatus(row, status)]),
    ...(kind === undefined ? [] : [row('keys.kind', '=', kind)]),
    ...(account === undefined ? [] : [row('keys.account_id', '=', account)]),
    ...(withoutAdminKeys ? [row('keys.kind', '!=', 'admin')] : []),
  ]
}

function hasStatus(row: Keys, status: KeyStatus): Expression<SqlBool> {
  const revoked = row('keys.revoked_at', 'is not', null)
  const expired = row('keys.expires_at', '<=', Date.now())
  if (status === 'revoked') return revoked
  const over = row.and([row('keys.expires_at', 'is not', null), expired])
  return row.and([row.not(revoked), status === 'expired' ? over : row.not(over)])
}
