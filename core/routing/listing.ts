import type { Model, ModelId, Principal } from '../sdk/api.ts'
import type { Namespace, RoutingTable } from './table.ts'

/** OpenAI's model object, with documented extras. */
export interface ListedModel {
  readonly id: string
  readonly object: 'model'
  /** Unix seconds; constant for a model. */
  readonly created: number
  readonly owned_by: string
  /** Tokens. */
  readonly context_length?: number
}

/** The models that a principal may call: those that routes.yaml names and those discovered. A failed discovery omits its namespace only. */
export async function listModels(table: RoutingTable, principal: Principal): Promise<ListedModel[]> {
  const lists = await Promise.all([...table.namespaces.values()].map(modelsOf))
  return [...curatedModels(table), ...lists.flat()].filter(({ id }) => isServed(table, id, principal))
}

/** One model that a principal may call; undefined if there is none of this name. */
export async function findModel(table: RoutingTable, name: string, principal: Principal): Promise<ListedModel | undefined> {
  const model = table.resolve(name)
  if (model === undefined || !isServed(table, model.id, principal)) return undefined
  const namespace = table.namespaces.get(model.namespace)
  const known = namespace === undefined ? curatedModels(table) : await modelsOf(namespace)
  return known.find(({ id }) => id === model.id) ?? (namespace && unlisted(namespace, model))
}

/** A dormant namespace serves test keys only: they see the models that routes.yaml names. */
function isServed(table: RoutingTable, id: string, principal: Principal): boolean {
  const model = table.resolve(id)
  return model !== undefined && table.serves(model, principal)
}

const curatedModels = ({ curated }: RoutingTable): ListedModel[] =>
  [...curated.values()].flatMap(({ name, routes }) => [...routes.keys()].map((id) => listed(name, { id })))

async function modelsOf({ name, models, catalogue }: Namespace): Promise<ListedModel[]> {
  const found = new Map<string, ListedModel>()
  for (const id of models ?? []) if (!id.includes('*')) found.set(id, listed(name, { id }))
  for (const model of await catalogue.models()) found.set(model.id, listed(name, model))
  return [...found.values()]
}

/** A model of a namespace without discovery that passes model names through: it may be called, so it is listed. */
function unlisted({ name, catalogue }: Namespace, { model }: ModelId): ListedModel | undefined {
  return catalogue.complete ? undefined : listed(name, { id: model })
}

function listed(namespace: string, { id, created = 0, owned_by = namespace, context_length }: Model): ListedModel {
  return {
    id: `${namespace}/${id}`,
    object: 'model',
    created,
    owned_by,
    ...(context_length !== undefined && { context_length }),
  }
}
