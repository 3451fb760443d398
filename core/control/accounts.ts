import { Type } from 'typebox'
import { type Account, createAccount, editAccount, findAccount, findOwner, listAccounts } from '../accounts/accounts.ts'
import { GatewayError } from '../errors.ts'
import { didYouMean } from '../text/suggestions.ts'
import { budgetTexts, spendingField, spendingOf } from './budgets.ts'
import { accountScope } from './caller.ts'
import { globs, page, pageQuery, rateClass, time, toTime } from './fields.ts'
import { type Operation, operation } from './operation.ts'
import type { ManagementServices } from './services.ts'

const settings = {
  name: Type.String(),
  models: globs('Globs of the model ids that its keys may call.'),
  rate_class: rateClass('The rate class of its keys; null: the default one.'),
  budgets: budgetTexts('What all its keys together may spend; empty: no budget.'),
}

const accountSchema = Type.Object(
  {
    id: Type.String(),
    ...settings,
    spending: spendingField,
    created_at: time('When it was created.'),
    keys: Type.Integer({ description: 'The number of its keys that are not revoked.' }),
    users: Type.Integer({ description: 'The number of users who sign in to it.' }),
  },
  { title: 'Account' },
)

async function accountViews(accounts: readonly Account[], services: ManagementServices) {
  const budgeted = accounts.map(({ id, budgets }) => ({ owner: { kind: 'account', id } as const, budgets }))
  const spending = await spendingOf(budgeted, services)
  return accounts.map(({ rateClass, createdAt, ...account }, index) => ({
    ...account,
    rate_class: rateClass,
    spending: spending[index]!,
    created_at: toTime(createdAt),
  }))
}

const accountView = async (account: Account, services: ManagementServices) => (await accountViews([account], services))[0]!

/** Accounts, which own keys. */
export const accountOperations: readonly Operation[] = [
  operation({
    method: 'GET',
    path: '/accounts',
    access: 'member',
    summary: 'List accounts, newest first; a member sees their own',
    query: Type.Object(pageQuery),
    reply: page(accountSchema),
    async handle({ caller, query }, services) {
      const { data, next_cursor } = await listAccounts(services.store, { ...query, account: accountScope(caller) })
      return { data: await accountViews(data, services), next_cursor }
    },
  }),
  operation({
    method: 'POST',
    path: '/accounts',
    access: 'admin',
    summary: 'Create an account',
    body: Type.Object({
      ...settings,
      rate_class: Type.Optional(settings.rate_class),
      budgets: Type.Optional(settings.budgets),
    }),
    reply: accountSchema,
    status: 201,
    async handle({ caller, body: { rate_class, ...settings } }, services) {
      checkRateClassDeclared(rate_class, undefined, services)
      const account = await createAccount(services.store, { ...settings, rateClass: rate_class ?? null }, caller)
      return accountView(account, services)
    },
  }),
  operation({
    method: 'GET',
    path: '/accounts/{id}',
    access: 'member',
    summary: 'Get an account',
    reply: accountSchema,
    async handle({ caller, params: { id } }, services) {
      accountScope(caller, id)
      return accountView(await findAccount(services.store, id), services)
    },
  }),
  operation({
    method: 'PATCH',
    path: '/accounts/{id}',
    access: 'admin',
    summary: 'Change an account, which takes effect for its keys at once',
    body: Type.Partial(Type.Object(settings)),
    reply: accountSchema,
    async handle({ caller, params: { id }, body: { rate_class, ...settings } }, services) {
      const { rateClass } = await findOwner(services.store.db, id)
      checkRateClassDeclared(rate_class, rateClass, services)
      return accountView(await editAccount(services.store, { id, ...settings, rateClass: rate_class }, caller), services)
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
