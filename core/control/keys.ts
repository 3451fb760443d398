import { type Static, Type } from 'typebox'
import { GatewayError } from '../errors.ts'
import { type ApiKey, countKeys, KEY_SORTS, listKeys } from '../keys/api-key.ts'
import { type CreatedKey, createKey, editKey, findKey, revokeKey, rotateKey } from '../keys/keys.ts'
import { checkRateClassDeclared } from './accounts.ts'
import { budgetTexts, checkBudgetsOfKey } from './budgets.ts'
import { accountScope, type Caller, checkConfirmed } from './caller.ts'
import { changedInFile } from './declared.ts'
import { fromTime, globs, oneOf, page, pageQuery, rateClass, tags, timeOrNull } from './fields.ts'
import { createdKeySchema, declaredKeyViews, keyKind, keySchema, keyStatus, keyView, keyViews } from './key-view.ts'
import { type Operation, operation } from './operation.ts'
import type { ManagementServices } from './services.ts'

const settings = Type.Partial(
  Type.Object({
    name: Type.String({ description: 'What it is for.' }),
    models: globs("Globs that narrow the account's; absent: all of those."),
    rate_class: rateClass("Null: the account's, else the default one. Only an admin may set it."),
    expires_at: timeOrNull('When it expires; null: never. Of a new key, absent: as late as its account allows.'),
    budgets: budgetTexts('What it may spend, within what its account may. Only an admin may raise or remove them.'),
    tags,
  }),
)

const keyQuery = Type.Object({
  ...pageQuery,
  q: Type.Optional(
    Type.String({
      maxLength: 100,
      description:
        'Part of the name or of the first characters, the last four, the masked key, the id of a key or of its rotation, or a tag as `team=search`.',
    }),
  ),
  status: Type.Optional(keyStatus),
  kind: Type.Optional(keyKind),
  account_id: Type.Optional(Type.String({ maxLength: 100 })),
  sort: Type.Optional(oneOf([...KEY_SORTS], 'Newest first, by name, last used first, or next to expire first.')),
})

/** API keys. */
export const keyOperations: readonly Operation[] = [
  operation({
    method: 'GET',
    path: '/keys',
    access: 'member',
    summary: 'List keys, those of routes.yaml before all others',
    query: keyQuery,
    reply: Type.Object({
      ...page(keySchema).properties,
      total: Type.Integer({ description: 'The number of keys of all pages.' }),
    }),
    async handle({ caller, query }, services) {
      const account = accountScope(caller, query.account_id)
      const filter = { ...query, account, withoutAdminKeys: caller.role !== 'admin' }
      const { data, next_cursor } = await listKeys(services.store, filter)
      const declared = await declaredKeys(caller, services, query)
      const total = declared.length + (await countKeys(services.store, filter))
      const first = query.cursor === undefined ? declared : []
      return { data: [...first, ...(await keyViews(data, services))], next_cursor, total }
    },
  }),
  operation({
    method: 'POST',
    path: '/keys',
    access: 'member',
    summary: 'Create a key; only this reply has its secret',
    body: Type.Object({
      ...settings.properties,
      name: Type.String({ description: 'What it is for.' }),
      kind: keyKind,
      account_id: Type.Optional(Type.String({ description: 'The owning account; absent: your own.' })),
    }),
    reply: createdKeySchema,
    status: 201,
    async handle({ caller, body }, services) {
      const { name, kind, models, rate_class, expires_at, account_id, budgets, tags } = body
      if (kind === 'admin' && caller.role !== 'admin') throw new GatewayError('admin_required')
      if (kind === 'admin') checkConfirmed(caller)
      checkRateClass(caller, rate_class, undefined, services)
      checkBudgetsOfKey(caller, budgets, [])
      const account = ownerOf(caller, account_id)
      const expires = toExpiry(expires_at)
      const created = await createKey(
        services.store,
        { name, kind, models, rateClass: rate_class, expires, budgets, tags, account },
        caller,
      )
      return createdKeyView(created, services)
    },
  }),
  operation({
    method: 'GET',
    path: '/keys/{id}',
    access: 'member',
    summary: 'Get a key',
    reply: keySchema,
    async handle({ caller, params }, services) {
      const declared = (await declaredKeys(caller, services)).find((key) => key.id === params.id)
      return declared ?? keyView(await findStoredKey(caller, params.id, services), services)
    },
  }),
  operation({
    method: 'PATCH',
    path: '/keys/{id}',
    access: 'member',
    summary: 'Change a key; disabled, it is refused within a second until an admin enables it',
    body: Type.Object({
      ...settings.properties,
      disabled: Type.Optional(Type.Boolean({ description: 'Whether it is refused. Only an admin may enable a key again.' })),
    }),
    reply: keySchema,
    async handle({ caller, params, body }, services) {
      const { name, models, rate_class, expires_at, budgets, tags, disabled } = body
      const { id, kind, rateClass, budgets: current, disabledAt } = await findStoredKey(caller, params.id, services)
      if (kind === 'admin') checkConfirmed(caller)
      checkRateClass(caller, rate_class, rateClass, services)
      checkBudgetsOfKey(caller, budgets, current)
      // An admin may have had a reason to disable it that its holder does not share.
      if (caller.role !== 'admin' && disabled === false && disabledAt !== undefined) throw new GatewayError('admin_required')
      const changes = { name, models, rateClass: rate_class, expires: toExpiry(expires_at), budgets, tags, disabled }
      return keyView(await editKey(services.store, { id, ...changes }, caller), services)
    },
  }),
  operation({
    method: 'POST',
    path: '/keys/{id}/rotate',
    access: 'member',
    summary: 'Rotate a key: create its successor; only this reply has the secret',
    body: Type.Object({
      overlap_seconds: Type.Integer({
        minimum: 0,
        maximum: 30 * 86_400,
        description: 'How long the old key stays valid; 0 revokes it at once.',
      }),
    }),
    reply: createdKeySchema,
    status: 201,
    async handle({ caller, params, body }, services) {
      const { id, kind } = await findStoredKey(caller, params.id, services)
      if (kind === 'admin') checkConfirmed(caller)
      const rotated = await rotateKey(services.store, { id, overlap: body.overlap_seconds * 1000 }, caller)
      return createdKeyView(rotated, services)
    },
  }),
  operation({
    method: 'POST',
    path: '/keys/{id}/revoke',
    access: 'member',
    summary: 'Revoke a key, at once and permanently',
    reply: keySchema,
    async handle({ caller, params }, services) {
      const { id } = await findStoredKey(caller, params.id, services)
      return keyView(await revokeKey(services.store, id, caller), services)
    },
  }),
]

async function createdKeyView({ key, secret }: CreatedKey, services: ManagementServices) {
  return { ...(await keyView(key, services)), secret }
}

/** Finds a key that can be changed. Throws `conflict` for a key of routes.yaml, and `object_not_found`. */
async function findStoredKey(caller: Caller, id: string, services: ManagementServices): Promise<ApiKey> {
  const declared = services.live.generation.config.keys.find(({ name }) => `routes:${name}` === id)
  if (declared !== undefined && maySeeAccount(caller, declared.account)) throw changedInFile('key', declared.at)
  const key = await findKey(services.store.db, id)
  if (!maySee(caller, key)) throw new GatewayError('object_not_found', { values: { what: 'key' } })
  return key
}

const maySeeAccount = (caller: Caller, account: string): boolean => caller.role === 'admin' || account === caller.account.id

const maySee = (caller: Caller, { account, kind }: ApiKey): boolean =>
  maySeeAccount(caller, account.id) && (caller.role === 'admin' || kind !== 'admin')

/** A member may not change a rate class, which limits what they may use. Throws `admin_required` or `invalid_value`. */
function checkRateClass(
  caller: Caller,
  requested: string | null | undefined,
  current: string | undefined,
  services: ManagementServices,
): void {
  if (caller.role !== 'admin' && requested !== undefined && requested !== (current ?? null))
    throw new GatewayError('admin_required')
  checkRateClassDeclared(requested, current, services)
}

/** The account of a new key. For a member no account exists but their own. */
function ownerOf(caller: Caller, requested: string | undefined): string {
  if (requested === undefined || requested === caller.account.id || caller.role === 'admin') return requested ?? caller.account.id
  throw new GatewayError('invalid_value', { param: 'account_id', values: { detail: 'there is no such account' } })
}

/** Null (never) and undefined (unchanged) stay what they are. */
const toExpiry = (text: string | null | undefined): number | null | undefined => (text === null ? null : fromTime(text))

/** The keys of routes.yaml that a caller may see, filtered as the list of keys is. */
async function declaredKeys(caller: Caller, services: ManagementServices, filter: Static<typeof keyQuery> = {}) {
  const { q = '', status, kind, account_id } = filter
  const account = accountScope(caller, account_id)
  const keys = services.live.generation.config.keys.filter((key) => account === undefined || key.account === account)
  const views = await declaredKeyViews(keys, services)
  return views
    .filter((key) => status === undefined || key.status === status)
    .filter((key) => kind === undefined || key.kind === kind)
    .filter(({ name, id, masked, tags }) =>
      [name, id, masked, ...Object.entries(tags).map(([tag, value]) => `${tag}=${value}`)].some((text) =>
        text.toLowerCase().includes(q.toLowerCase()),
      ),
    )
}
