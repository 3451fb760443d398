import { Type } from 'typebox'
import { findOwner } from '../accounts/accounts.ts'
import { GatewayError } from '../errors.ts'
import { type ApiKey, listKeys } from '../keys/api-key.ts'
import type { KeyKind } from '../keys/format.ts'
import { createKey, editKey, findKey, revokeKey, rotateKey } from '../keys/keys.ts'
import { accountSeenBy, checkDeclared } from './accounts.ts'
import type { Caller } from './caller.ts'
import { fromTime, globs, page, pageQuery, rateClass, tags, timeOrNull } from './fields.ts'
import { keySchema, newKeySchema, showDeclaredKey, showKey } from './key-view.ts'
import { type ManagementServices, type Route, route } from './operation.ts'

const settings = {
  name: Type.String({ description: 'What it is for.' }),
  models: globs('Globs that narrow what the account may call; absent: all of that.'),
  rate_class: rateClass,
  expires_at: timeOrNull('When it stops working; null: never.'),
  tags,
}

/** The keys of routes.yaml can be looked at, but not be changed. */
async function findOwn(caller: Caller, id: string, services: ManagementServices): Promise<ApiKey> {
  const declared = (await declaredKeys(caller, services)).find((key) => key.id === id)
  if (declared !== undefined)
    throw new GatewayError('conflict', { values: { detail: `This key is managed in ${declared.source}: change it there.` } })
  const key = await findKey(services.store.db, id)
  if (!maySee(caller, key)) throw new GatewayError('object_not_found', { values: { what: 'key' } })
  return key
}

const maySee = (caller: Caller, { account, kind }: ApiKey): boolean =>
  caller.role === 'admin' || (account.id === caller.account.id && kind !== 'admin')

/** Else a member could leave the limits that the account, or an admin for this key, was given. */
function checkRateClass(caller: Caller, asked: string | null | undefined, current: string | undefined): void {
  if (caller.role !== 'admin' && asked !== undefined && asked !== (current ?? null)) throw new GatewayError('admin_required')
}

/** Whose a new key is. A member knows of no account but their own. */
function ownerOf(caller: Caller, asked: string | undefined): string {
  if (asked === undefined || asked === caller.account.id || caller.role === 'admin') return asked ?? caller.account.id
  throw new GatewayError('invalid_value', { param: 'account_id', values: { detail: 'there is no such account' } })
}

/** Null and absent stay what they are: for good, and as it was. */
const toExpiry = (text: string | null | undefined): number | null | undefined => (text === null ? null : fromTime(text))

/** Only who manages the gateway makes keys that do. */
function checkKind(caller: Caller, kind: KeyKind): void {
  if (kind === 'admin' && caller.role !== 'admin') throw new GatewayError('admin_required')
}

/** API keys. */
export const keyRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/keys',
    role: 'member',
    summary: 'List keys, the newest first; those of routes.yaml come before all others',
    query: Type.Object({
      ...pageQuery,
      q: Type.Optional(
        Type.String({ maxLength: 100, description: 'Part of the name or of the first characters, or the last four.' }),
      ),
      status: Type.Optional(Type.Enum(['active', 'expired', 'revoked'])),
      kind: Type.Optional(Type.Enum(['live', 'test', 'admin'])),
      account_id: Type.Optional(Type.String({ maxLength: 100 })),
    }),
    reply: page(keySchema),
    async handle({ caller, query }, services) {
      const account = accountSeenBy(caller, query.account_id)
      const { data, next_cursor } = await listKeys(services.store, {
        ...query,
        account,
        withoutAdminKeys: caller.role !== 'admin',
      })
      const declared = query.cursor === undefined ? await declaredKeys(caller, services, query) : []
      return { data: [...declared, ...data.map(showKey)], next_cursor }
    },
  }),
  route({
    method: 'POST',
    path: '/keys',
    role: 'member',
    summary: 'Create a key: its secret is in this reply only',
    body: Type.Object({
      ...Type.Partial(Type.Object(settings)).properties,
      name: settings.name,
      kind: Type.Enum(['live', 'test', 'admin']),
      account_id: Type.Optional(Type.String({ description: 'Whose it is; absent: of your own account.' })),
    }),
    reply: newKeySchema,
    status: 201,
    async handle({ caller, body }, services) {
      const { name, kind, models, rate_class, expires_at, account_id, tags } = body
      checkKind(caller, kind)
      checkRateClass(caller, rate_class, undefined)
      checkDeclared(rate_class, undefined, services)
      const account = ownerOf(caller, account_id)
      const made = await createKey(
        services.store,
        { name, kind, models, rateClass: rate_class, expires: toExpiry(expires_at), tags, account },
        caller,
      )
      return { ...showKey(made.key), secret: made.secret }
    },
  }),
  route({
    method: 'GET',
    path: '/keys/{id}',
    role: 'member',
    summary: 'Look at a key',
    reply: keySchema,
    async handle({ caller, params }, services) {
      const declared = (await declaredKeys(caller, services)).find((key) => key.id === params.id)
      return declared ?? showKey(await findOwn(caller, params.id, services))
    },
  }),
  route({
    method: 'PATCH',
    path: '/keys/{id}',
    role: 'member',
    summary: 'Change a key',
    body: Type.Partial(Type.Object(settings)),
    reply: keySchema,
    async handle({ caller, params, body }, services) {
      const { name, models, rate_class, expires_at, tags } = body
      const { id, rateClass } = await findOwn(caller, params.id, services)
      checkRateClass(caller, rate_class, rateClass)
      checkDeclared(rate_class, rateClass, services)
      const given = { name, models, rateClass: rate_class, expires: toExpiry(expires_at), tags }
      return showKey(await editKey(services.store, { id, ...given }, caller))
    },
  }),
  route({
    method: 'POST',
    path: '/keys/{id}/rotate',
    role: 'member',
    summary: 'Make a key that takes over from this one, which works on for a while; the secret is in this reply only',
    body: Type.Object({
      overlap_seconds: Type.Integer({
        minimum: 0,
        maximum: 30 * 86_400,
        description: 'How long the old one works on; 0 revokes it at once.',
      }),
    }),
    reply: newKeySchema,
    status: 201,
    async handle({ caller, params, body }, services) {
      const { id } = await findOwn(caller, params.id, services)
      const made = await rotateKey(services.store, { id, overlap: body.overlap_seconds * 1000 }, caller)
      return { ...showKey(made.key), secret: made.secret }
    },
  }),
  route({
    method: 'POST',
    path: '/keys/{id}/revoke',
    role: 'member',
    summary: 'Revoke a key, at once and for good',
    reply: keySchema,
    async handle({ caller, params }, services) {
      const { id } = await findOwn(caller, params.id, services)
      return showKey(await revokeKey(services.store, id, caller))
    },
  }),
]

/** The account that the keys of routes.yaml belong to. */
const OWNER = 'default'

/** Which of them are asked for; as in a list of keys. */
export interface DeclaredKeyFilter {
  readonly q?: string
  readonly status?: string
  readonly kind?: string
  readonly account_id?: string
}

/** The keys of routes.yaml that a caller may see. */
export async function declaredKeys(caller: Caller, services: ManagementServices, filter: DeclaredKeyFilter = {}) {
  const { keys } = services.live.generation.config
  const { q = '', status, kind, account_id: account = OWNER } = filter
  const foreign = account !== OWNER || (caller.role !== 'admin' && caller.account.id !== OWNER)
  if (foreign || keys.length === 0) return []
  const owner = await findOwner(services.store.db, OWNER)
  return keys
    .map((key) => showDeclaredKey(key, { id: owner.id, name: owner.name }))
    .filter((key) => status === undefined || key.status === status)
    .filter((key) => kind === undefined || key.kind === kind)
    .filter(({ name }) => name.toLowerCase().includes(q.toLowerCase()))
}
