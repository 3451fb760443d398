import { Type } from 'typebox'
import { findOwner, type Owner } from '../accounts/accounts.ts'
import type { Config } from '../config/config.ts'
import { listModels } from '../routing/listing.ts'
import type { Principal } from '../sdk/api.ts'
import { matchesGlob } from '../text/glob.ts'
import { type Operation, operation } from './operation.ts'

const modelSchema = Type.Object(
  {
    id: Type.String({ examples: ['openai/gpt-5.5'] }),
    namespace: Type.String(),
    owned_by: Type.String(),
    context_length: Type.Optional(Type.Integer({ description: 'In tokens.' })),
    curated: Type.Boolean({ description: 'A route of routes.yaml, with targets.' }),
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
          available: true,
        }
      })
      return { data: [...available, ...dormantModels(config, account)] }
    },
  }),
]

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
      .map((id) => ({ id, namespace: name, owned_by: name, curated: false, available: false, why: `${dormant} is not set` })),
  )
}
