import { Type } from 'typebox'
import { findOwner, type Owner } from '../accounts/accounts.ts'
import type { Config } from '../config/config.ts'
import type { Generation } from '../http/generation.ts'
import { listModels } from '../routing/listing.ts'
import type { Principal } from '../sdk/api.ts'
import { matchesGlob } from '../text/glob.ts'
import { formatUsd } from '../text/money.ts'
import { nullable, usd } from './fields.ts'
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
    available: Type.Boolean(),
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
      const { config, table } = live.generation
      const models = await listModels(table, principalOf(account))
      const available = models.map(({ id, owned_by, context_length }) => {
        const namespace = id.slice(0, id.indexOf('/'))
        return {
          id,
          namespace,
          owned_by,
          ...(context_length !== undefined && { context_length }),
          curated: config.curated.has(namespace),
          price: viewPrice(id, live.generation),
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
function dormantModels({ namespaces }: Config, { models: allowed }: Owner) {
  return [...namespaces.values()].flatMap(({ name, models = [], dormant }) =>
    models
      .filter((model) => dormant !== undefined && !model.includes('*'))
      .map((model) => `${name}/${model}`)
      .filter((id) => allowed.some((glob) => matchesGlob(glob, id)))
      .map((id) => ({
        id,
        namespace: name,
        owned_by: name,
        curated: false,
        price: null,
        available: false,
        why: `${dormant} is not set`,
      })),
  )
}
