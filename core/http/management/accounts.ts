import { Type } from 'typebox'
import { type Account, createAccount, editAccount, findAccount, findOwner, listAccounts } from '../../accounts/accounts.ts'
import { GatewayError } from '../../errors.ts'
import { checkDeclared } from './declared-class.ts'
import { globs, page, pageQuery, rateClass, time, toTime } from './fields.ts'
import { type Route, route } from './route.ts'

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
    async handle({ caller, body: { name, models, rate_class } }, parts) {
      checkDeclared(rate_class, undefined, parts)
      return show(await createAccount(parts.store, { name, models, rateClass: rate_class ?? null }, caller))
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
    async handle({ caller, params: { id }, body: { name, models, rate_class } }, parts) {
      const { rateClass } = await findOwner(parts.store.db, id)
      checkDeclared(rate_class, rateClass, parts)
      return show(await editAccount(parts.store, { id, name, models, rateClass: rate_class }, caller))
    },
  }),
]
