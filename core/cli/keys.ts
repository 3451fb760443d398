import { COMMAND_LINE } from '../accounts/audit.ts'
import { GatewayError } from '../errors.ts'
import { type ApiKey, type KeyStatus, listKeys, statusOf } from '../keys/api-key.ts'
import type { KeyKind } from '../keys/format.ts'
import { type CreatedKey, createKey, editKey, revokeKey, rotateKey } from '../keys/keys.ts'
import { everyPage } from '../store/page.ts'
import { instant } from '../text/times.ts'
import { tellUnchecked } from './accounts.ts'
import { iso, type StoreIo, type StoreOptions, withStore, writeJson, writeTable } from './store.ts'

/** What a key can be told to be, on the command line. */
export interface KeySettingsOptions {
  readonly name?: string
  readonly models?: readonly string[]
  readonly class?: string
  /** A date or an instant, as in routes.yaml. */
  readonly expires?: string
  /** `team=research` */
  readonly tags?: readonly string[]
}

/** What `umg keys create` takes. */
export interface CreateKeyOptions extends StoreOptions, KeySettingsOptions {
  readonly name: string
  readonly test?: boolean
  readonly admin?: boolean
  readonly account?: string
}

/** What `umg keys list` takes. */
export interface ListKeysOptions extends StoreOptions {
  readonly query?: string
  readonly status?: KeyStatus
  readonly kind?: KeyKind
  readonly account?: string
}

type WithId = StoreOptions & { readonly id: string }

/** `umg keys create`: the secret, this once, alone on stdout, so that it pipes. Resolves to the exit code. */
export async function createKeyCommand(options: CreateKeyOptions, io: StoreIo): Promise<number> {
  return withStore(options, io, async (store) => {
    const kind = options.admin ? 'admin' : options.test ? 'test' : 'live'
    const { name, account } = options
    writeSecret(options, io, await createKey(store, { ...settingsOf(options), name, account, kind }, COMMAND_LINE))
    if (!options.json) tellUnchecked(options.class, io)
  })
}

/** `umg keys list`, the newest last. Resolves to the exit code. */
export async function listKeysCommand(
  { query, status, kind, account, ...options }: ListKeysOptions,
  io: StoreIo,
): Promise<number> {
  return withStore(options, io, async (store) => {
    const keys = (await everyPage((page) => listKeys(store, { ...page, q: query, status, kind, account }))).reverse()
    if (options.json) return writeJson(io, keys.map(view))
    if (keys.length > 0) return writeTable(io, [HEADINGS, ...keys.map(cells)])
    const filtered = [query, status, kind, account].some((filter) => filter !== undefined)
    io.stderr.write(
      filtered ? 'No key is like that.\n' : 'There are no keys yet. Create one with `umg keys create --name NAME`.\n',
    )
  })
}

/** `umg keys edit ID`. Resolves to the exit code. */
export async function editKeyCommand(options: WithId & KeySettingsOptions, io: StoreIo): Promise<number> {
  return withStore(options, io, async (store) => {
    const key = await editKey(store, { ...settingsOf(options), id: options.id }, COMMAND_LINE)
    if (options.json) return writeJson(io, view(key))
    io.stderr.write(`Changed the key ${key.id} (${key.name}). Running gateways know it within a second.\n`)
    tellUnchecked(options.class, io)
  })
}

/** `umg keys rotate ID`: the new secret, this once, alone on stdout. Resolves to the exit code. */
export async function rotateKeyCommand(options: WithId & { readonly overlap: number }, io: StoreIo): Promise<number> {
  return withStore(options, io, async (store) => {
    writeSecret(options, io, await rotateKey(store, options, COMMAND_LINE))
  })
}

/** `umg keys revoke ID`. Resolves to the exit code. */
export async function revokeKeyCommand(options: WithId, io: StoreIo): Promise<number> {
  return withStore(options, io, async (store) => {
    const key = await revokeKey(store, options.id, COMMAND_LINE)
    if (options.json) return writeJson(io, view(key))
    io.stderr.write(`Revoked the key ${key.id} (${key.name}). Running gateways refuse it within a second.\n`)
  })
}

function settingsOf({ name, models, class: rateClass, expires, tags }: KeySettingsOptions) {
  return {
    name,
    models,
    rateClass,
    expires: expires === undefined ? undefined : expiryOf(expires),
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

function writeSecret({ json }: StoreOptions, io: StoreIo, { key, secret }: CreatedKey): void {
  const { id, name, kind, ...rest } = view(key)
  if (json) writeJson(io, { id, name, kind, secret, ...rest })
  else {
    io.stderr.write(`Created the ${kind} key ${id}. Keep its secret now: it is not stored and never shown again.
`)
    io.stdout.write(`${secret}
`)
  }
}

/** A key as `--json` prints it. */
const view = (key: ApiKey) => ({
  id: key.id,
  name: key.name,
  kind: key.kind,
  key: key.masked,
  status: statusOf(key),
  account: key.account.id,
  models: key.models,
  class: key.rateClass ?? null,
  tags: key.tags,
  createdAt: iso(key.createdAt),
  lastUsedAt: key.lastUsedAt === undefined ? null : iso(key.lastUsedAt),
  expiresAt: key.expiresAt === undefined ? null : iso(key.expiresAt),
})

const HEADINGS = ['ID', 'NAME', 'KIND', 'KEY', 'MODELS', 'CREATED', 'EXPIRES', 'STATUS']

const cells = (key: ApiKey): string[] => [
  key.id,
  key.name,
  key.kind,
  key.masked,
  key.models.join(' '),
  iso(key.createdAt),
  key.expiresAt === undefined ? 'never' : iso(key.expiresAt),
  statusOf(key),
]
