import { Type } from 'typebox'
import type { DeclaredKey } from '../config/config.ts'
import { type ApiKey, KEY_STATUSES, statusOf } from '../keys/api-key.ts'
import { firstKeyId } from '../keys/principal.ts'
import type { BudgetOwner } from '../limits/budget-counters.ts'
import { formatBudget } from '../text/budgets.ts'
import { type Named, namesOf } from '../usage/names.ts'
import { recentCosts } from '../usage/recent-costs.ts'
import { budgetTexts, spendingField, spendingOf } from './budgets.ts'
import { source, sourceOf } from './declared.ts'
import { globs, named, nullable, oneOf, rateClass, recentCost, tags, timeOrNull, toTime, toTimeOrNull } from './fields.ts'
import type { ManagementServices } from './services.ts'

/** The kind of a key. */
export const keyKind = oneOf(['live', 'test', 'admin'], 'An admin key can call this API, and no model.')

/** The status of a key. */
export const keyStatus = oneOf([...KEY_STATUSES])

const fields = {
  id: Type.String(),
  name: Type.String(),
  kind: keyKind,
  masked: Type.String({ description: "The secret's first and last characters.", examples: ['sk-live-7Fq2…9aXk'] }),
  account: named,
  models: globs("Globs of model ids that narrow the account's."),
  rate_class: rateClass("Null: the account's, else the default one."),
  budgets: budgetTexts('What it may spend, within what its account may; empty: no budget.'),
  spending: spendingField,
  cost: recentCost,
  tags,
  created_at: timeOrNull('Null for a key of routes.yaml.'),
  created_by: nullable(named, 'Null for a key of routes.yaml.'),
  last_used_at: timeOrNull('Up to a minute late. Null: never, or a key of routes.yaml.'),
  expires_at: timeOrNull('Null: never.'),
  revoked_at: timeOrNull('Null: not revoked.'),
  disabled_at: timeOrNull('Null: not disabled.'),
  status: keyStatus,
  replaced_by: Type.Optional(Type.String({ description: 'The id of the key that it was rotated to.' })),
  replaces: Type.Optional(Type.String({ description: 'The id of the key that it was rotated from.' })),
  source,
}

/** A key without its secret. */
export const keySchema = Type.Object(fields, { title: 'ApiKey' })

/** A new key, with its secret. */
export const createdKeySchema = Type.Object(
  { ...fields, secret: Type.String({ description: 'Only in this reply.' }) },
  { title: 'CreatedApiKey' },
)

/** Keys of the store, as the API shows them. */
export async function keyViews(keys: readonly ApiKey[], services: ManagementServices) {
  const budgeted = keys.map(async (key) => ({ owner: await ownerOf(key, services), budgets: key.budgets }))
  const spending = await spendingOf(await Promise.all(budgeted), services)
  const costs = await recentCosts(
    services.store,
    keys.map(({ id, account }) => ({ key: id, account: account.id })),
  )
  return keys.map((key, index) => ({ ...viewOf(key), spending: spending[index]!, cost: costs[index]! }))
}

/** A key of the store, as the API shows it. */
export const keyView = async (key: ApiKey, services: ManagementServices) => (await keyViews([key], services))[0]!

/** A key that replaces others shares their budgets. */
async function ownerOf({ id, replaces, budgets, account }: ApiKey, { store }: ManagementServices): Promise<BudgetOwner> {
  const isFirst = replaces === undefined || budgets.length === 0
  return { kind: 'key', id: isFirst ? id : await firstKeyId(store, id), account: account.id }
}

const viewOf = (key: ApiKey) => ({
  id: key.id,
  name: key.name,
  kind: key.kind,
  masked: key.masked,
  account: key.account,
  models: key.models,
  rate_class: key.rateClass ?? null,
  budgets: key.budgets,
  tags: key.tags,
  created_at: toTime(key.createdAt),
  created_by: key.createdBy ?? null,
  last_used_at: toTimeOrNull(key.lastUsedAt),
  expires_at: toTimeOrNull(key.expiresAt),
  revoked_at: toTimeOrNull(key.revokedAt),
  disabled_at: toTimeOrNull(key.disabledAt),
  status: statusOf(key),
  ...(key.replacedBy !== undefined && { replaced_by: key.replacedBy }),
  ...(key.replaces !== undefined && { replaces: key.replaces }),
  source: sourceOf(undefined),
})

/** Keys of routes.yaml, as the API shows them. An account that the database does not have yet is named by its id. */
export async function declaredKeyViews(keys: readonly DeclaredKey[], services: ManagementServices) {
  const owners = await namesOf(
    services.store,
    'accounts',
    keys.map(({ account }) => account),
  )
  const views = keys.map((key) => declaredView(key, { id: key.account, name: owners.get(key.account)! }))
  const spending = await spendingOf(
    views.map(({ id, budgets, account }) => ({ owner: { kind: 'key', id, account: account.id }, budgets })),
    services,
  )
  const costs = await recentCosts(
    services.store,
    views.map(({ id, account }) => ({ key: id, account: account.id })),
  )
  return views.map((view, index) => ({ ...view, spending: spending[index]!, cost: costs[index]! }))
}

/** Only the digest of the secret is known. */
const declaredView = (key: DeclaredKey, account: Named) => ({
  id: `routes:${key.name}`,
  name: key.name,
  kind: key.kind,
  masked: `sha256:${key.digest.slice(0, 8)}…`,
  account,
  models: key.models,
  rate_class: key.rateClass ?? null,
  budgets: key.budgets.map(formatBudget),
  tags: key.tags,
  created_at: null,
  created_by: null,
  last_used_at: null,
  expires_at: toTimeOrNull(key.expires),
  revoked_at: null,
  disabled_at: null,
  status: statusOf({ expiresAt: key.expires }),
  source: sourceOf(key.at),
})
