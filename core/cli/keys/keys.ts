import { COMMAND_LINE } from '../../accounts/audit.ts'
import { GatewayError } from '../../errors.ts'
import { type ApiKey, type KeyStatus, listKeys, statusOf } from '../../keys/api-key.ts'
import type { KeyKind } from '../../keys/format.ts'
import { daysOf, longestLife, outlives } from '../../keys/key-life.ts'
import { type CreatedKey, createKey, editKey, revokeKey, rotateKey, validPredecessors } from '../../keys/keys.ts'
import type { Store } from '../../store/database.ts'
import { everyPage } from '../../store/page.ts'
import { instant } from '../../text/times.ts'
import { type CommandIo, formatTime, type TableFormat, writeJson, writeTable } from '../output.ts'
import { budgetsOf, type ObjectOptions, type StoreOptions, warnUncheckedClass, withStore, withStoreMade } from '../store.ts'

/** The options of `umg keys create` and `umg keys edit` for the settings of a key. */
export interface KeySettingsOptions {
  readonly name?: string
  readonly models?: readonly string[]
  readonly class?: string
  /** A date or an instant, as in routes.yaml, or `never`. */
  readonly expires?: string
  /** `20 USD/day`; `none` removes all. */
  readonly budget?: readonly string[]
  /** `team=research` */
  readonly tags?: readonly string[]
}

/** The options of `umg keys create`. */
export interface CreateKeyOptions extends StoreOptions, KeySettingsOptions {
  readonly name: string
  readonly test?: boolean
  readonly admin?: boolean
  readonly account?: string
}

/** The options of `umg keys list`. */
export interface ListKeysOptions extends StoreOptions {
  readonly query?: string
  readonly status?: KeyStatus
  readonly kind?: KeyKind
  readonly account?: string
}

/** `umg keys create`: prints only the secret on stdout, so that it can be redirected. Resolves to the exit code. */
export async function createKeyCommand(options: CreateKeyOptions, io: CommandIo): Promise<number> {
  return withStoreMade(options, io, async (store) => {
    const kind = options.admin ? 'admin' : options.test ? 'test' : 'live'
    const { name, account } = options
    writeSecret(options, await createKey(store, { ...settingsOf(options), name, account, kind }, COMMAND_LINE), io)
    if (!options.json) warnUncheckedClass(options.class, io)
  })
}

/** `umg keys list`, the newest last. Resolves to the exit code. */
export async function listKeysCommand(
  { query, status, kind, account, ...options }: ListKeysOptions,
  io: CommandIo,
): Promise<number> {
  return withStore(options, io, async (store) => {
    const keys = (await everyPage((page) => listKeys(store, { ...page, q: query, status, kind, account }))).reverse()
    if (options.json) return writeJson(keys.map(toJson), io)
    const isFiltered = [query, status, kind, account].some((filter) => filter !== undefined)
    writeTable(keys, isFiltered ? { ...TABLE, empty: 'No keys match.' } : TABLE, io)
    await warnOfLongLives(store, keys, io)
  })
}

/** `umg keys edit ID`. Resolves to the exit code. */
export async function editKeyCommand(options: ObjectOptions & KeySettingsOptions, io: CommandIo): Promise<number> {
  return withStore(options, io, async (store) => {
    const key = await editKey(store, { ...settingsOf(options), id: storedId(options) }, COMMAND_LINE)
    if (options.json) return writeJson(toJson(key), io)
    io.stderr.write(`Changed the key ${key.id} (${key.name}). Running gateways apply it within a second.\n`)
    warnUncheckedClass(options.class, io)
  })
}

/** `umg keys rotate ID`: prints only the new secret on stdout. Resolves to the exit code. */
export async function rotateKeyCommand(options: ObjectOptions & { readonly overlap: number }, io: CommandIo): Promise<number> {
  return withStore(options, io, async (store) => {
    writeSecret(options, await rotateKey(store, { ...options, id: storedId(options) }, COMMAND_LINE), io)
  })
}

/** `umg keys revoke ID`. Resolves to the exit code. */
export async function revokeKeyCommand(options: ObjectOptions, io: CommandIo): Promise<number> {
  return withStore(options, io, async (store) => {
    const key = await revokeKey(store, storedId(options), COMMAND_LINE)
    if (options.json) return writeJson(toJson(key), io)
    io.stderr.write(`Revoked the key ${key.id} (${key.name}). Running gateways refuse it within a second.\n`)
    await warnOfPredecessors(store, key, io)
  })
}

/** `umg keys disable ID`. Resolves to the exit code. */
export async function disableKeyCommand(options: ObjectOptions, io: CommandIo): Promise<number> {
  return withStore(options, io, async (store) => {
    const key = await editKey(store, { id: storedId(options), disabled: true }, COMMAND_LINE)
    if (options.json) return writeJson(toJson(key), io)
    io.stderr.write(
      `Disabled the key ${key.id} (${key.name}). Running gateways refuse it within a second, until: umg keys enable ${key.id}\n`,
    )
    await warnOfPredecessors(store, key, io)
  })
}

/** `umg keys enable ID`. Resolves to the exit code. */
export async function enableKeyCommand(options: ObjectOptions, io: CommandIo): Promise<number> {
  return withStore(options, io, async (store) => {
    const key = await editKey(store, { id: storedId(options), disabled: false }, COMMAND_LINE)
    if (options.json) return writeJson(toJson(key), io)
    const status = statusOf(key)
    const result =
      status === 'active' ? 'Running gateways accept it within a second.' : `It is ${status}, so gateways go on refusing it.`
    io.stderr.write(`Enabled the key ${key.id} (${key.name}). ${result}\n`)
  })
}

/** Names the keys that may live longer than their account allows: they are from before that. */
async function warnOfLongLives({ db }: Store, keys: readonly ApiKey[], io: CommandIo): Promise<void> {
  const usable = keys.filter((key) => ['active', 'disabled'].includes(statusOf(key)))
  const accounts = new Map(usable.map(({ account }) => [account.id, account.name]))
  for (const [account, name] of accounts) {
    const longest = await longestLife(db, account)
    const long = usable.filter((key) => key.account.id === account && outlives(key, longest))
    if (long.length === 0) continue
    const names = long.map((key) => `${key.id} (${key.name})`).join(', ')
    io.stderr.write(`Keys of the account ${name} that live longer than its ${daysOf(longest)} days: ${names}. ${TO_SHORTEN}\n`)
  }
}

const TO_SHORTEN = 'Rotate them, or give each an expiry: umg keys edit ID --expires DATE'

/** Says which keys are still accepted after their successor is not. */
async function warnOfPredecessors(store: Store, key: ApiKey, io: CommandIo): Promise<void> {
  for (const { id, expiresAt } of await validPredecessors(store, key)) {
    const until = expiresAt === undefined ? '' : ` until ${formatTime(expiresAt)}`
    io.stderr.write(`The key ${id}, from which it was rotated, stays valid${until}. To end that one too: umg keys revoke ${id}\n`)
  }
}

/** The id of a key in the database. Throws `conflict` for that of a key of routes.yaml, which no command changes. */
function storedId({ id }: ObjectOptions): string {
  const [, name] = /^routes:(.+)$/.exec(id) ?? []
  if (name === undefined) return id
  const how = 'To replace it, put the hash of a key of umg keys generate in place of its own; to revoke it, remove its entry.'
  throw new GatewayError('conflict', {
    values: { detail: `The key ${name} is declared in routes.yaml: change it there. ${how}` },
  })
}

function settingsOf({ name, models, class: rateClass, expires, budget, tags }: KeySettingsOptions) {
  return {
    name,
    models,
    rateClass,
    expires: expires === undefined ? undefined : expiryOf(expires),
    budgets: budgetsOf(budget),
    tags: tags === undefined ? undefined : Object.fromEntries(tags.map(tagOf)),
  }
}

function expiryOf(text: string): number | null {
  const time = text === 'never' ? null : instant(text)
  if (time !== undefined) return time
  const detail = 'write "never", a date (2027-01-31: its first moment in UTC) or an instant with its zone (2027-01-31T18:00:00Z)'
  throw new GatewayError('invalid_value', { param: '--expires', values: { detail } })
}

function tagOf(text: string): [name: string, value: string] {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? []
  if (name !== undefined && value !== undefined) return [name, value]
  throw new GatewayError('invalid_value', { param: '--tags', values: { detail: 'write a name and a value: team=research' } })
}

function writeSecret({ json }: StoreOptions, { key, secret }: CreatedKey, io: CommandIo): void {
  const { id, name, kind, ...rest } = toJson(key)
  if (json) {
    writeJson({ id, name, kind, secret, ...rest }, io)
    return
  }
  io.stderr.write(`Created the ${kind} key ${id}. Save its secret now: it is not stored and never shown again.\n`)
  io.stdout.write(`${secret}\n`)
}

/** A key as `--json` prints it. */
const toJson = (key: ApiKey) => ({
  id: key.id,
  name: key.name,
  kind: key.kind,
  key: key.masked,
  status: statusOf(key),
  account: key.account.id,
  models: key.models,
  class: key.rateClass ?? null,
  budgets: key.budgets,
  tags: key.tags,
  createdAt: formatTime(key.createdAt),
  lastUsedAt: key.lastUsedAt === undefined ? null : formatTime(key.lastUsedAt),
  expiresAt: key.expiresAt === undefined ? null : formatTime(key.expiresAt),
})

const TABLE: TableFormat<ApiKey> = {
  columns: {
    ID: ({ id }) => id,
    NAME: ({ name }) => name,
    KIND: ({ kind }) => kind,
    KEY: ({ masked }) => masked,
    MODELS: ({ models }) => models.join(' '),
    CREATED: ({ createdAt }) => formatTime(createdAt),
    EXPIRES: ({ expiresAt }) => (expiresAt === undefined ? 'never' : formatTime(expiresAt)),
    STATUS: statusOf,
    BUDGETS: ({ budgets }) => budgets.join(', '),
  },
  empty:
    'There are no keys in the database yet: create one with `umg keys create --name NAME`. Those of routes.yaml are not listed: the console shows them.',
}
