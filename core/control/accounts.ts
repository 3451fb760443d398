import { Type } from 'typebox'
import { type Account, createAccount, editAccount, findAccount, findOwner, listAccounts } from '../accounts/accounts.ts'
import { GatewayError } from '../errors.ts'
import { didYouMean } from '../text/suggestions.ts'
import type { Caller } from './caller.ts'
import { globs, page, pageQuery, rateClass, time, toTime } from './fields.ts'
import { type ManagementServices, type Route, route } from './operation.ts'

const accountSchema = Type.Object({
  id: Type.String(),
  name: Type.String(),
  models: globs('Globs of the model ids that its keys may call.'),
  rate_class: rateClass,
  created_at: time('When it was made.'),
  keys: Type.Integer({ description: 'How many of its keys are not revoked.' }),
  users: Type.Integer({ description: 'How many people sign in to it.' }),
})

const settings = { name: Type.String(), models: globs('Globs of the model ids that its keys may call.'), rate_class: rateClass }

const show = ({ id, name, models, rateClass, createdAt, keys, users }: Account) => ({
  id,
  name,
  models,
  rate_class: rateClass,
  created_at: toTime(createdAt),
  keys,
  users,
})

/** Accounts, which own keys. */
export const accountRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/accounts',
    role: 'member',
    summary: 'List accounts, the newest first; a member sees their own',
    query: Type.Object(pageQuery),
    reply: page(accountSchema),
    async handle({ caller, query }, { store }) {
      const account = caller.role === 'admin' ? undefined : caller.account.id
      const { data, next_cursor } = await listAccounts(store, { ...query, account })
      return { data: data.map(show), next_cursor }
    },
  }),
  route({
    method: 'POST',
    path: '/accounts',
    role: 'admin',
    summary: 'Create an account',
    body: Type.Object({ ...settings, rate_class: Type.Optional(rateClass) }),
    reply: accountSchema,
    status: 201,
    async handle({ caller, body: { name, models, rate_class } }, services) {
      checkDeclared(rate_class, undefined, services)
      return show(await createAccount(services.store, { name, models, rateClass: rate_class ?? null }, caller))
    },
  }),
  route({
    method: 'GET',
    path: '/accounts/{id}',
    role: 'member',
    summary: 'Look at an account',
    reply: accountSchema,
    async handle({ caller, params: { id } }, { store }) {
      if (caller.role !== 'admin' && id !== caller.account.id)
        throw new GatewayError('object_not_found', { values: { what: 'account' } })
      return show(await findAccount(store, id))
    },
  }),
  route({
    method: 'PATCH',
    path: '/accounts/{id}',
    role: 'admin',
    summary: 'Change an account: from then on its keys may do what it says',
    body: Type.Partial(Type.Object(settings)),
    reply: accountSchema,
    async handle({ caller, params: { id }, body: { name, models, rate_class } }, services) {
      const { rateClass } = await findOwner(services.store.db, id)
      checkDeclared(rate_class, rateClass, services)
      return show(await editAccount(services.store, { id, name, models, rateClass: rate_class }, caller))
    },
  }),
]

type Class = string | null | undefined

/**
 * Throws `invalid_value` for a new rate class that the routing table in use does not declare: calls would be refused. Where it
 * declares none, some plugin may know them without saying so. What a key or an account has already, it keeps.
 */
export function checkDeclared(asked: Class, current: Class, services: ManagementServices): void {
  const declared = services.live.generation.config.rateClasses
  if (asked == null || asked === current || declared.length === 0 || declared.includes(asked)) return
  const detail = `there is no such rate class${didYouMean(asked, declared) || '.'} routes.yaml declares ${declared.join(', ')}`
  throw new GatewayError('invalid_value', { param: 'rate_class', values: { detail } })
}

/**
 * The account to which a list is narrowed: a member's own, or the one an admin asks for; undefined is all of them. To a member other
 * accounts are not there. Throws `object_not_found`.
 */
export function accountSeenBy(caller: Caller, asked?: string): string | undefined {
  if (caller.role === 'admin') return asked
  if (asked !== undefined && asked !== caller.account.id)
    throw new GatewayError('object_not_found', { values: { what: 'account' } })
  return caller.account.id
}
