import type { Kysely } from 'kysely'
import type { KeysTable, Schema } from '../store/schema.ts'
import type { KeyKind } from './key.ts'

/** A key as its owner may see it again and again: without the secret. Times are milliseconds since 1970. */
export interface ApiKey {
  /** `key_…` */
  readonly id: string
  readonly account: { readonly id: string; readonly name: string }
  readonly name: string
  readonly kind: KeyKind
  /** Enough of the secret to know it by: `sk-live-7Fq2…9aXk`. */
  readonly shown: string
  readonly models: readonly string[]
  readonly rateClass?: string
  /** Labels of its owner's, such as `team`. */
  readonly tags: Readonly<Record<string, string>>
  readonly createdAt: number
  readonly createdBy?: { readonly id: string; readonly name: string }
  readonly expiresAt?: number
  readonly revokedAt?: number
  readonly lastUsedAt?: number
  /** The id of the key that it took over from, and of the one that took over from it. */
  readonly replaces?: string
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

/** A row of `selectKeys`. */
export type KeyRow = KeysTable & { readonly account_name: string }

/** The key that a row of `selectKeys` tells of. */
export function apiKeyOf(row: KeyRow): ApiKey {
  return {
    id: row.id,
    account: { id: row.account_id, name: row.account_name },
    name: row.name,
    kind: row.kind,
    shown: `${row.prefix_shown}…${row.last_four}`,
    models: JSON.parse(row.models),
    rateClass: row.rate_class ?? undefined,
    tags: JSON.parse(row.tags),
    createdAt: row.created_at,
    createdBy: row.created_by === null ? undefined : { id: row.created_by, name: row.created_by_name ?? row.created_by },
    expiresAt: row.expires_at ?? undefined,
    revokedAt: row.revoked_at ?? undefined,
    lastUsedAt: row.last_used_at ?? undefined,
    replaces: row.replaces ?? undefined,
    replacedBy: row.replaced_by ?? undefined,
  }
}

/** Whether a key opens anything now. */
export type KeyStatus = 'active' | 'expired' | 'revoked'

/** The status of a key, now. */
export function statusOf(key: Pick<ApiKey, 'revokedAt' | 'expiresAt'>): KeyStatus {
  if (key.revokedAt !== undefined) return 'revoked'
  return key.expiresAt !== undefined && key.expiresAt <= Date.now() ? 'expired' : 'active'
}
