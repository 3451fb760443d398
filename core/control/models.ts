import { Type } from 'typebox'
import { findOwner, type Owner } from '../accounts/accounts.ts'
import type { Generation } from '../call/generation.ts'
import type { Config } from '../config/config.ts'
import type { Principal } from '../sdk/api.ts'
import type { Store } from '../store/database.ts'
import { GlobList } from '../text/glob.ts'
import { firstRequestId } from '../text/ids.ts'
import { formatUsd } from '../text/money.ts'
import { stepsOf } from '../usage/time-range.ts'
import { groupRows } from '../usage/usage-report.ts'
import { nullable, time, toTime, usd } from './fields.ts'
import { type Operation, operation } from './operation.ts'

const priceSchema = Type.Object(
  {
    name: Type.String({ description: 'Its source and version.' }),
    input_usd: nullable(usd, 'Per million tokens of a short prompt, without those of classes that are priced apart.'),
    output_usd: nullable(usd, 'The same of the answer.'),
  },
  { title: 'ModelPrice' },
)

const modelSchema = Type.Object(
  {
    id: Type.String({ examples: ['openai/gpt-5.5'] }),
    namespace: Type.String(),
    owned_by: Type.String(),
    context_length: Type.Optional(Type.Integer({ description: 'In tokens.' })),
    curated: Type.Boolean({ description: 'A route of routes.yaml, with targets.' }),
    price: nullable(priceSchema, 'Null if none is known, and for a curated model, which costs what its targets cost.'),
    priced: Type.Boolean({ description: 'Whether a caller with a budget may call it: the price of each target is known.' }),
    available: Type.Boolean(),
    recent: Type.Optional(
      Type.Object(
        { since: time('When they began.'), requests: Type.Integer(), errors: Type.Integer() },
        {
          description:
            'The calls of your account since the last whole hour but one; absent if there were none. Errors are those of upstreams and of ' +
            "the gateway: a caller's own mistakes do not count.",
        },
      ),
    ),
    why: Type.Optional(Type.String({ description: 'Why it is not available.' })),
  },
  { title: 'Model' },
)

/** The models of an account. */
export const modelOperations: readonly Operation[] = [
  operation({
    method: 'GET',
    path: '/models',
    access: 'member',
    summary: 'List the models that your account may call, as far as they are named or discovered',
    reply: Type.Object({ data: Type.Array(modelSchema) }),
    async handle({ caller }, { store, live }) {
      const account = await findOwner(store.db, caller.account.id)
      const { config, models: listing } = live.generation
      const models = await listing.list(principalOf(account))
      const recent = await recentCalls(store, account)
      const available = models.map(({ id, owner, context }) => {
        const namespace = id.slice(0, id.indexOf('/'))
        const calls = recent.get(id)
        return {
          id,
          namespace,
          owned_by: owner,
          ...(context !== undefined && { context_length: context }),
          ...(calls && { recent: calls }),
          curated: config.curated.has(namespace),
          price: viewPrice(id, live.generation),
          priced: isPriced(id, live.generation),
          available: true,
        }
      })
      return { data: [...available, ...dormantModels(config, account)] }
    },
  }),
]

/** The price of a model of an upstream, for short prompts. */
function viewPrice(id: string, { prices, table }: Pick<Generation, 'prices' | 'table'>) {
  const { namespace, model } = table.resolve(id) ?? { namespace: '', model: '' }
  const upstream = table.namespaces.get(namespace)?.upstream
  const price = upstream && prices.priceOf({ namespace, model, provider: upstream.name })
  if (price === undefined) return null
  const { input, output } = price.tiers.at(-1)!.rates
  return { name: price.name, input_usd: perMillion(input), output_usd: perMillion(output) }
}

/** Whether the price of each target of a listed model is known, or what such calls cost instead. */
function isPriced(id: string, { prices, table }: Pick<Generation, 'prices' | 'table'>): boolean {
  const listed = table.resolve(id)!
  const targets = table.curated.has(listed.namespace) ? table.targetsOf(listed) : [listed]
  return targets.every(({ namespace, model }) =>
    prices.allowsBudgets({ namespace, model, provider: table.namespaces.get(namespace)!.upstream!.name }),
  )
}

/** The calls of an account in this hour and the one before, by model, and how many of them an upstream or the gateway failed. */
async function recentCalls(store: Store, { id }: Owner) {
  const hours = stepsOf({ from: Date.now() - HOUR_MS, to: Date.now() + 1, step: 'hour' })
  const sums = groupRows(store, { group: 'model', step: 'hour', account: id }, hours).select(['name', 'requests'])
  const failed = store.db
    .selectFrom('calls')
    .select(({ fn }) => ['model', fn.countAll().as('errors')])
    .where('fault', 'in', ['upstream', 'gateway'])
    .where('id', '>=', firstRequestId(hours[0]!))
    .where('account_id', '=', id)
    .groupBy('model')
  const [asked, errors] = await Promise.all([store.read(sums), store.read(failed)])
  const errorsOf = new Map(errors.map((row) => [row.model, Number(row.errors)]))
  const since = toTime(hours[0]!)
  const recent = new Map<string, { since: string; requests: number; errors: number }>()
  for (const { name, requests } of asked)
    recent.set(name, { since, requests: (recent.get(name)?.requests ?? 0) + requests, errors: errorsOf.get(name) ?? 0 })
  return recent
}

const HOUR_MS = 3_600_000

/** Micro-dollars per million tokens in US dollars. */
const perMillion = (micros: number | undefined): string | null => (micros === undefined ? null : formatUsd(micros * 1000))

/** The principal of a key that does not narrow the account. */
const principalOf = ({ id, name, models }: Owner): Principal => ({
  keyId: 'console',
  name,
  kind: 'live',
  account: id,
  models: [models],
})

/** The models that dormant namespaces, whose credentials are missing, would offer. */
function dormantModels({ namespaces }: Config, { models: globs }: Owner) {
  const allowed = new GlobList(globs)
  return [...namespaces.values()].flatMap(({ name, models = [], dormant }) =>
    models
      .filter((model) => dormant !== undefined && !model.includes('*'))
      .map((model) => `${name}/${model}`)
      .filter((id) => allowed.matches(id))
      .map((id) => ({
        id,
        namespace: name,
        owned_by: name,
        curated: false,
        price: null,
        priced: false,
        available: false,
        why: `${dormant} is not set`,
      })),
  )
}
