import type { Kysely } from 'kysely'
import { type Actor, type AuditEntry, audit, changesBetween, GATEWAY } from '../accounts/audit.ts'
import { checkBudgets, checkGlobs, checkText } from '../accounts/field-checks.ts'
import { DEFAULT_ACCOUNT } from '../config/schema/default-account.ts'
import { GatewayError } from '../errors.ts'
import type { Store } from '../store/database.ts'
import type { KeysTable, Schema } from '../store/schema.ts'
import { digestOf, newId } from '../text/ids.ts'
import { type ApiKey, apiKeyOf, selectKeys, statusOf } from './api-key.ts'
import { createSecret, type KeyKind, maskOf } from './format.ts'
import { checkLife, longestLife } from './key-life.ts'
import { checkRoom } from './key-room.ts'

/** Creates a key. Throws `invalid_value`, or `conflict` if its account has as many as it may have. */
export async function createKey(store: Store, key: NewKey, actor: Actor = GATEWAY): Promise<CreatedKey> {
  return changeKeys(store, undefined, async (db) => {
    const created = await insertKey(db, key, actor)
    await auditCreation(db, created, actor)
    return created
  })
}

/** Changes the settings of a key. Throws `object_not_found`, `invalid_value`, or `conflict` for a revoked key. */
export async function editKey(
  store: Store,
  { id, ...settings }: Partial<KeySettings> & { readonly id: string },
  actor: Actor,
): Promise<ApiKey> {
  return changeKeys(store, id, async (db) => {
    const before = await findKey(db, id)
    if (statusOf(before) === 'expired' && settings.expires !== undefined) await checkRoom(db, before.account.id)
    // An expired key may be renamed and keep its expiry.
    const { expires, ...others } = settings
    const keepsExpiry = expires === undefined || expires === (before.expiresAt ?? null)
    checkSettings(keepsExpiry ? others : settings)
    if (!keepsExpiry) checkLife(expires, before, await longestLife(db, before.account.id))
    if (before.revokedAt !== undefined)
      throw new GatewayError('conflict', { values: { detail: 'A revoked key cannot be changed. Create another one.' } })
    if (Object.keys(settings).length > 0) await db.updateTable('keys').set(columnsOf(settings)).where('id', '=', id).execute()
    const key = await findKey(db, id)
    const changes = changesBetween(settingsOf(before), settingsOf(key))
    await audit(db, actor, { action: 'key.edit', object: objectOf(key), changes })
    return key
  })
}

/** Revokes a key; for a revoked key, does nothing. Throws `object_not_found`. */
export async function revokeKey(store: Store, id: string, actor: Actor = GATEWAY): Promise<ApiKey> {
  return changeKeys(store, id, async (db) => {
    const { numUpdatedRows } = await db
      .updateTable('keys')
      .set({ revoked_at: Date.now() })
      .where('id', '=', id)
      .where('revoked_at', 'is', null)
      .executeTakeFirstOrThrow()
    const key = await findKey(db, id)
    if (numUpdatedRows === 1n) await audit(db, actor, { action: 'key.revoke', object: objectOf(key) })
    return key
  })
}

/** The keys from which a key was rotated, one after the other, and that are still accepted during their overlaps. */
export async function validPredecessors({ db }: Store, { replaces }: ApiKey): Promise<readonly ApiKey[]> {
  const found: ApiKey[] = []
  for (let id = replaces; id !== undefined; ) {
    const key = await findKey(db, id)
    if (statusOf(key) === 'active') found.push(key)
    id = key.replaces
  }
  return found
}

/** Finds a key by its id. Throws `object_not_found`. */
export async function findKey(db: Kysely<Schema>, id: string): Promise<ApiKey> {
  const row = await selectKeys(db).where('keys.id', '=', id).executeTakeFirst()
  // The message does not repeat the id: it may be a secret, given by mistake.
  if (row === undefined) throw new GatewayError('object_not_found', { values: { what: 'key' } })
  return apiKeyOf(row)
}

/**
 * Runs a change of keys and its audit in one transaction; after it, this process looks up every key again. `id`: of the changed key;
 * undefined for a new one.
 */
async function changeKeys<Result>(
  store: Store,
  id: string | undefined,
  run: (db: Kysely<Schema>) => Promise<Result>,
): Promise<Result> {
  const result = await store.db.transaction().execute(run)
  store.events.emit('keys', id)
  return result
}

/**
 * A key to create. Defaults: all models of the account, its rate class, the longest life that it allows, no budgets, no tags, the account
 * `default`.
 */
export interface NewKey extends Partial<Omit<KeySettings, 'disabled'>> {
  readonly name: string
  readonly kind: KeyKind
  readonly account?: string
  /** The id of the key that it is rotated from. */
  readonly replaces?: string | null
}

/** A new key, and its secret, which is stored nowhere. */
export interface CreatedKey {
  readonly key: ApiKey
  readonly secret: string
}

/** Creates a key in the caller's transaction. Throws `invalid_value` or `conflict`. */
async function insertKey(db: Kysely<Schema>, key: NewKey, actor: Actor): Promise<CreatedKey> {
  const { name, kind, models = ['*'], rateClass = null, budgets = [], tags = {} } = key
  const { account = DEFAULT_ACCOUNT, replaces = null } = key
  const createdAt = Date.now()
  const longest = await longestLife(db, account)
  const { expires = timeAfter(createdAt, longest) } = key
  const settings: KeySettings = { name, models, rateClass, expires, budgets, tags, disabled: false }
  checkSettings(settings)
  const owner = await db.selectFrom('accounts').select('name').where('id', '=', account).executeTakeFirst()
  if (owner === undefined)
    throw new GatewayError('invalid_value', { param: 'account_id', values: { detail: 'there is no such account' } })
  checkLife(expires, { createdAt, expiresAt: createdAt }, longest)
  // A successor takes the place of its predecessor.
  if (replaces === null) await checkRoom(db, account)
  const secret = createSecret(kind)
  const row: KeysTable = {
    id: newId('key'),
    account_id: account,
    kind,
    digest: digestOf(secret),
    ...maskOf(secret),
    ...columnsOf(settings),
    created_at: createdAt,
    created_by: actor.id,
    created_by_name: actor.name,
    revoked_at: null,
    disabled_at: null,
    last_used_at: null,
    replaces,
    replaced_by: null,
  }
  await db.insertInto('keys').values(row).execute()
  return { key: apiKeyOf({ ...row, account_name: owner.name }), secret }
}

async function auditCreation(db: Kysely<Schema>, { key }: CreatedKey, actor: Actor): Promise<void> {
  const changes = changesBetween({}, { kind: key.kind, account: key.account.id, ...settingsOf(key) })
  await audit(db, actor, { action: 'key.create', object: objectOf(key), changes })
}

/** A key, as the audit trail names it. */
const objectOf = ({ id, name }: ApiKey): AuditEntry['object'] => ({ type: 'key', id, name })

/** What can be set of a key. */
export interface KeySettings {
  /** 1 to 100 characters, for people. */
  readonly name: string
  /** Globs of model ids that narrow what the account may call. */
  readonly models: readonly string[]
  /** A rate class of routes.yaml; null: the account's, or else the default one. */
  readonly rateClass: string | null
  /** Milliseconds since 1970; null: never. */
  readonly expires: number | null
  /** What it may spend, beside what its account may: `20 USD/day`. */
  readonly budgets: readonly string[]
  /** Labels for usage and metrics, such as `team`. */
  readonly tags: Readonly<Record<string, string>>
  /** Whether it is refused until it is enabled again. */
  readonly disabled: boolean
}

const MAX_TAGS = 10

/** The settings of a key, as the audit trail names them. */
function settingsOf({ name, models, rateClass, expiresAt, budgets, tags, disabledAt }: ApiKey) {
  const expires_at = expiresAt === undefined ? null : new Date(expiresAt).toISOString()
  const disabled = disabledAt === undefined ? null : true
  return { name, models, rate_class: rateClass ?? null, expires_at, budgets, tags, disabled }
}

type Columns = Pick<KeysTable, 'name' | 'models' | 'rate_class' | 'expires_at' | 'budgets' | 'tags' | 'disabled_at'>

/** The columns of the given settings. */
function columnsOf<Given extends Partial<KeySettings>>(given: Given): Given extends KeySettings ? Columns : Partial<Columns> {
  const { name, models, rateClass, expires, budgets, tags, disabled } = given
  const columns: Partial<Columns> = {
    ...(name !== undefined && { name }),
    ...(models !== undefined && { models: JSON.stringify(models) }),
    ...(rateClass !== undefined && { rate_class: rateClass }),
    ...(expires !== undefined && { expires_at: expires }),
    ...(budgets !== undefined && { budgets: JSON.stringify(checkBudgets(budgets)) }),
    ...(tags !== undefined && { tags: JSON.stringify(tags) }),
    ...(disabled !== undefined && { disabled_at: disabled ? Date.now() : null }),
  }
  return columns as Given extends KeySettings ? Columns : Partial<Columns>
}

/** Throws `invalid_value` for settings that a key cannot have. */
function checkSettings({ name, models, rateClass, expires, tags }: Partial<KeySettings>): void {
  if (name !== undefined) checkText('name', name)
  if (rateClass != null) checkText('rate_class', rateClass)
  if (models !== undefined) checkGlobs('models', models)
  if (expires != null && !(expires > Date.now())) throw invalid('expires_at', 'it must be in the future')
  checkTags(tags ?? {})
}

function checkTags(tags: KeySettings['tags']): void {
  const entries = Object.entries(tags)
  if (entries.length > MAX_TAGS) throw invalid('tags', `a key has at most ${MAX_TAGS}`)
  for (const [name, value] of entries) {
    if (!/^[a-z][a-z0-9_-]{0,31}$/.test(name))
      throw invalid(
        'tags',
        `${JSON.stringify(name)} is not a valid name; use lower-case letters, digits, dashes and underscores, such as "team"`,
      )
    checkText(`tags.${name}`, value)
  }
}

const invalid = (param: string, detail: string): GatewayError => new GatewayError('invalid_value', { param, values: { detail } })

/** The key to rotate, and how long it stays valid. */
export interface Rotation {
  readonly id: string
  /** Milliseconds; 0 revokes the key at once. */
  readonly overlap: number
}

/** Whether any account, or any key that is not revoked, has a budget. */
export async function hasBudgets({ db }: Store): Promise<boolean> {
  const account = await db.selectFrom('accounts').select('id').where('budgets', '!=', '[]').limit(1).executeTakeFirst()
  if (account !== undefined) return true
  const keys = db.selectFrom('keys').where('budgets', '!=', '[]').where('revoked_at', 'is', null)
  return (await keys.select('id').limit(1).executeTakeFirst()) !== undefined
}

/**
 * Creates a key that replaces another one, with the same rights and lifetime, if its account allows that. Throws `object_not_found`, or `conflict` for a key that
 * is not active or was rotated before.
 */
export async function rotateKey(store: Store, { id, overlap }: Rotation, actor: Actor): Promise<CreatedKey> {
  return changeKeys(store, id, async (db) => {
    const old = await findKey(db, id)
    const made = await insertKey(db, await successorOf(db, old), actor)
    const now = Date.now()
    const end = overlap === 0 ? { revoked_at: now } : { expires_at: Math.min(now + overlap, old.expiresAt ?? Infinity) }
    const { numUpdatedRows } = await db
      .updateTable('keys')
      .set({ ...end, replaced_by: made.key.id })
      .where('id', '=', id)
      .where('replaced_by', 'is', null)
      .executeTakeFirstOrThrow()
    // Of two concurrent rotations, the later one is rolled back.
    if (statusOf(old) !== 'active' || numUpdatedRows !== 1n)
      throw new GatewayError('conflict', { values: { detail: NOT_ROTATABLE } })
    await auditCreation(db, made, actor)
    const changes = { replaced_by: [null, made.key.id], overlap_seconds: [null, overlap / 1000] } as const
    await audit(db, actor, { action: 'key.rotate', object: objectOf(old), changes })
    return made
  })
}

const NOT_ROTATABLE = 'Only an active key that was not rotated before can be rotated. Create another one.'

async function successorOf(db: Kysely<Schema>, old: ApiKey) {
  const { name, kind, models, rateClass, budgets, tags, account, createdAt, expiresAt = Number.POSITIVE_INFINITY } = old
  const life = Math.min(expiresAt - createdAt, await longestLife(db, account.id))
  const expires = timeAfter(Date.now(), life)
  return { name, kind, models, rateClass: rateClass ?? null, budgets, tags, expires, account: account.id, replaces: old.id }
}

/** The end of a life; null: never. */
const timeAfter = (start: number, life: number): number | null => (Number.isFinite(life) ? start + life : null)
