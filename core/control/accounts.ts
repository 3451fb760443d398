import { Type } from 'typebox'
import { type Account, createAccount, editAccount, findAccount, findOwner, listAccounts } from '../accounts/accounts.ts'
import { GatewayError } from '../errors.ts'
import { formatBudget } from '../text/budgets.ts'
import { didYouMean } from '../text/suggestions.ts'
import { recentCosts } from '../usage/recent-costs.ts'
import { budgetTexts, spendingField, spendingOf } from './budgets.ts'
import { accountScope } from './caller.ts'
import { changedInFile, source, sourceOf } from './declared.ts'
import { globs, nullable, page, pageQuery, rateClass, recentCost, tags, time, toTime } from './fields.ts'
import { type Operation, operation } from './operation.ts'
import type { ManagementServices } from './services.ts'

const settings = {
  name: Type.String(),
  models: globs('Globs of the model ids that its keys may call.'),
  rate_class: rateClass('The rate class of its keys; null: the default one.'),
  max_keys: Type.Integer({
    minimum: 0,
    description: 'The most keys in the database that it may have. Keys that are revoked, expired or rotated do not count.',
  }),
  max_key_days: nullable(
    Type.Integer({ minimum: 1 }),
    'The longest life of its keys in the database, in days; null: any. That of the account `default` holds for the keys of all accounts too.',
  ),
  budgets: budgetTexts('What all its keys together may spend; empty: no budget.'),
}

const accountSchema = Type.Object(
  {
    id: Type.String(),
    ...settings,
    spending: spendingField,
    cost: recentCost,
    created_at: time('When it was created.'),
    keys: Type.Integer({ description: 'The number of its keys that are not revoked.' }),
    users: Type.Integer({ description: 'The number of users who sign in to it.' }),
    key_days: nullable(
      Type.Integer(),
      'The longest life of its keys, in days: its `max_key_days` or that of the account `default`, whichever is shorter; null: any.',
    ),
    tags,
    source,
  },
  { title: 'Account' },
)

/** An account of routes.yaml is shown with the settings of the file, which take the place of those in the database. */
async function accountViews(accounts: readonly Account[], services: ManagementServices) {
  const { accounts: declaredAccounts } = services.live.generation.config
  const budgeted = accounts.map(({ id, budgets }) => ({
    owner: { kind: 'account', id, account: id } as const,
    budgets: declaredAccounts.get(id)?.budgets.map(formatBudget) ?? budgets,
  }))
  const spending = await spendingOf(budgeted, services)
  const costs = await recentCosts(
    services.store,
    accounts.map(({ id }) => ({ account: id })),
  )
  return accounts.map((account, index) => {
    const { id, name, models, rateClass, maxKeys, maxKeyDays, createdAt, keys, users, keyDays } = account
    const declared = declaredAccounts.get(id)
    return {
      id,
      name,
      models: declared?.models ?? models,
      rate_class: declared === undefined ? rateClass : (declared.rateClass ?? null),
      max_keys: maxKeys,
      max_key_days: maxKeyDays,
      budgets: budgeted[index]!.budgets,
      spending: spending[index]!,
      cost: costs[index]!,
      created_at: toTime(createdAt),
      keys,
      users,
      key_days: keyDays,
      tags: declared?.tags ?? {},
      source: sourceOf(declared?.at),
    }
  })
}

const accountView = async (account: Account, services: ManagementServices) => (await accountViews([account], services))[0]!

/** Accounts, which own keys. */
export const accountOperations: readonly Operation[] = [
  operation({
    method: 'GET',
    path: '/accounts',
    access: 'member',
    summary: 'List accounts, newest first; a member sees their own',
    query: Type.Object({
      ...pageQuery,
      q: Type.Optional(Type.String({ maxLength: 100, description: 'Part of the name, or the id.' })),
    }),
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
    confirmed: true,
    summary: 'Create an account',
    body: Type.Object({
      ...settings,
      rate_class: Type.Optional(settings.rate_class),
      max_keys: Type.Optional(settings.max_keys),
      max_key_days: Type.Optional(settings.max_key_days),
      budgets: Type.Optional(settings.budgets),
    }),
    reply: accountSchema,
    status: 201,
    async handle({ caller, body: { rate_class, max_keys, max_key_days, ...settings } }, services) {
      checkRateClassDeclared(rate_class, undefined, services)
      const account = { ...settings, rateClass: rate_class ?? null, maxKeys: max_keys, maxKeyDays: max_key_days }
      return accountView(await createAccount(services.store, account, caller), services)
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
    confirmed: true,
    summary: 'Change an account, which takes effect for its keys at once',
    body: Type.Partial(Type.Object(settings)),
    reply: accountSchema,
    async handle({ caller, params: { id }, body: { max_keys, max_key_days, ...body } }, services) {
      const { rate_class, ...settings } = body
      const { rateClass } = await findOwner(services.store.db, id)
      const declared = services.live.generation.config.accounts.get(id)
      // What limits the keys in the database is none of the file's settings.
      if (declared !== undefined && Object.keys(body).length > 0) throw changedInFile('account', declared.at)
      checkRateClassDeclared(rate_class, rateClass, services)
      const changes = { ...settings, rateClass: rate_class, maxKeys: max_keys, maxKeyDays: max_key_days }
      return accountView(await editAccount(services.store, { id, ...changes }, caller), services)
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
