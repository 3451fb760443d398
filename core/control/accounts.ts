import { Type } from 'typebox'
import { type Account, createAccount, editAccount, findAccount, findOwner, listAccounts } from '../accounts/accounts.ts'
import { GatewayError } from '../errors.ts'
import { didYouMean } from '../text/suggestions.ts'
import { accountScope } from './caller.ts'
import { globs, page, pageQuery, rateClass, time, toTime } from './fields.ts'
import { type Operation, operation } from './operation.ts'
import type { ManagementServices } from './services.ts'

const settings = {
  name: Type.String(),
  models: globs('Globs of the model ids that its keys may call.'),
  rate_class: rateClass('The rate class of its keys; null: the default one.'),
}

const accountSchema = Type.Object(
  {
    id: Type.String(),
    ...settings,
    created_at: time('When it was created.'),
    keys: Type.Integer({ description: 'The number of its keys that are not revoked.' }),
    users: Type.Integer({ description: 'The number of users who sign in to it.' }),
  },
  { title: 'Account' },
)

const accountView = ({ id, name, models, rateClass, createdAt, keys, users }: Account) => ({
  id,
  name,
  models,
  rate_class: rateClass,
  created_at: toTime(createdAt),
  keys,
  users,
})

/** Accounts, which own keys. */
export const accountOperations: readonly Operation[] = [
  operation({
    method: 'GET',
    path: '/accounts',
    access: 'member',
    summary: 'List accounts, newest first; a member sees their own',
    query: Type.Object(pageQuery),
    reply: page(accountSchema),
    async handle({ caller, query }, { store }) {
      const { data, next_cursor } = await listAccounts(store, { ...query, account: accountScope(caller) })
      return { data: data.map(accountView), next_cursor }
    },
  }),
  operation({
    method: 'POST',
    path: '/accounts',
    access: 'admin',
    summary: 'Create an account',
    body: Type.Object({ ...settings, rate_class: Type.Optional(settings.rate_class) }),
    reply: accountSchema,
    status: 201,
    async handle({ caller, body: { name, models, rate_class } }, services) {
      checkRateClassDeclared(rate_class, undefined, services)
      return accountView(await createAccount(services.store, { name, models, rateClass: rate_class ?? null }, caller))
    },
  }),
  operation({
    method: 'GET',
    path: '/accounts/{id}',
    access: 'member',
    summary: 'Get an account',
    reply: accountSchema,
    async handle({ caller, params: { id } }, { store }) {
      accountScope(caller, id)
      return accountView(await findAccount(store, id))
    },
  }),
  operation({
    method: 'PATCH',
    path: '/accounts/{id}',
    access: 'admin',
    summary: 'Change an account, which takes effect for its keys at once',
    body: Type.Partial(Type.Object(settings)),
    reply: accountSchema,
    async handle({ caller, params: { id }, body: { name, models, rate_class } }, services) {
      const { rateClass } = await findOwner(services.store.db, id)
      checkRateClassDeclared(rate_class, rateClass, services)
      return accountView(await editAccount(services.store, { id, name, models, rateClass: rate_class }, caller))
    },
  }),
]

type RateClass = string | null | undefined

/**
 * Throws `invalid_value` for a new rate class that routes.yaml does not declare, since calls with it would be refused. If it declares
 * none, any is accepted: a plugin may know classes without declaring them. An unchanged class is accepted too.
 */
export function checkRateClassDeclared(requested: RateClass, current: RateClass, services: ManagementServices): void {
  const declared = services.live.generation.config.rateClasses
  if (requested == null || requested === current || declared.length === 0 || declared.includes(requested)) return
  const detail = `there is no such rate class${didYouMean(requested, declared) || '.'} routes.yaml declares ${declared.join(', ')}`
  throw new GatewayError('invalid_value', { param: 'rate_class', values: { detail } })
}
