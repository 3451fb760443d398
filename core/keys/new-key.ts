import type { Kysely } from 'kysely'
import { type Actor, type AuditEntry, audit, changesBetween } from '../accounts/audit.ts'
import { GatewayError } from '../errors.ts'
import { newId } from '../store/id.ts'
import type { KeysTable, Schema } from '../store/schema.ts'
import { type ApiKey, apiKeyOf } from './api-key.ts'
import { createSecret, digestOf, type KeyKind, shownOf } from './key.ts'
import { checkSettings, columnsOf, type KeySettings, settingsOf } from './settings.ts'

/** What a key is to be. What is left out: all models of the account, its rate class, no end, no tags, the account `default`. */
export interface NewKey extends Partial<KeySettings> {
  readonly name: string
  readonly kind: KeyKind
  readonly account?: string
  /** The id of the key that it takes over from. */
  readonly replaces?: string | null
}

/** A key, and its secret: in this and nowhere else, ever again. */
export interface MadeKey {
  readonly key: ApiKey
  readonly secret: string
}

/** Makes a key, in the transaction of its caller. Throws `invalid_value`. */
export async function insertKey(db: Kysely<Schema>, key: NewKey, actor: Actor): Promise<MadeKey> {
  const { name, kind, models = ['*'], rateClass = null, expires = null, tags = {}, account = 'default', replaces = null } = key
  const settings: KeySettings = { name, models, rateClass, expires, tags }
  checkSettings(settings)
  const owner = await db.selectFrom('accounts').select('name').where('id', '=', account).executeTakeFirst()
  if (owner === undefined)
    throw new GatewayError('invalid_value', { param: 'account_id', values: { detail: 'there is no such account' } })
  const secret = createSecret(kind)
  const row: KeysTable = {
    id: newId('key'),
    account_id: account,
    kind,
    digest: digestOf(secret),
    ...shownOf(secret),
    ...columnsOf(settings),
    created_at: Date.now(),
    created_by: actor.id,
    created_by_name: actor.name,
    revoked_at: null,
    last_used_at: null,
    replaces,
    replaced_by: null,
  }
  await db.insertInto('keys').values(row).execute()
  const made = apiKeyOf({ ...row, account_name: owner.name })
  const changes = changesBetween({}, { kind, account, ...settingsOf(made) })
  await audit(db, actor, { action: 'key.create', object: objectOf(made), changes })
  return { key: made, secret }
}

/** A key, as the audit trail names it. */
export const objectOf = ({ id, name }: ApiKey): AuditEntry['object'] => ({ type: 'key', id, name })
