import { Type } from 'typebox'
import type { Config, RouteConfig, TargetConfig } from '../config/config.ts'
import type { TargetReport } from '../routing/upstream-state.ts'
import { nullable, oneOf } from './fields.ts'
import { type Operation, operation } from './operation.ts'

const targetSchema = Type.Object(
  {
    model: Type.String({ description: 'A model id, of an upstream or of another route.' }),
    weight: Type.Number(),
    share: Type.Optional(Type.Number({ description: 'Its share of the calls, from 0 to 1; absent if weights do not decide.' })),
    health: Type.Optional(
      oneOf(['closed', 'open', 'half_open'], "The state of its circuit breaker; absent if the model is not an upstream's."),
    ),
  },
  { title: 'Target' },
)

const routeSchema = Type.Object(
  {
    name: Type.String({ description: 'The model id without its namespace.' }),
    line: Type.Integer(),
    targets: Type.Array(targetSchema),
    fallbacks: Type.Array(targetSchema, { description: 'In the order of the attempts.' }),
  },
  { title: 'Route' },
)

const namespaceSchema = Type.Object(
  {
    name: Type.String(),
    provider: nullable(Type.String(), 'Null for a namespace of routes.'),
    dormant: Type.Optional(Type.String({ description: 'What is missing: the namespace serves no calls.' })),
    models: Type.Optional(Type.Array(Type.String(), { description: 'Names and globs; absent: any model.' })),
    line: Type.Integer({ description: 'Of routes.yaml.' }),
    routes: Type.Array(routeSchema),
  },
  { title: 'Namespace' },
)

const routingTableSchema = Type.Object(
  {
    aliases: Type.Array(Type.Object({ name: Type.String(), to: Type.String() })),
    namespaces: Type.Array(namespaceSchema),
  },
  { title: 'RoutingTable' },
)

/** The routing table as a graph. */
export const routeOperations: readonly Operation[] = [
  operation({
    method: 'GET',
    path: '/routes',
    access: 'admin',
    summary: 'Get the routing table, with the state of its targets',
    reply: routingTableSchema,
    async handle(_, { live, targets }) {
      const health = new Map((await targets()).map(({ namespace, model, breaker }) => [`${namespace}/${model}`, breaker]))
      return tableView(live.generation.config, health)
    },
  }),
]

/** The state of each target's circuit breaker, by model id. */
type Health = ReadonlyMap<string, TargetReport['breaker']>

function tableView(config: Config, health: Health) {
  const upstreams = [...config.namespaces.values()].map(({ name, plugin, dormant, models, at }) => ({
    name,
    provider: plugin.name,
    ...(dormant !== undefined && { dormant: `${dormant} is not set` }),
    ...(models && { models }),
    line: at.line,
    routes: [],
  }))
  const curated = [...config.curated.values()].map(({ name, routes, at }) => ({
    name,
    provider: null,
    line: at.line,
    routes: [...routes].map((entry) => routeView(entry, health)),
  }))
  return { aliases: Array.from(config.aliases, ([name, to]) => ({ name, to })), namespaces: [...curated, ...upstreams] }
}

function routeView([name, { targets, fallbacks, choose, at }]: [string, RouteConfig], health: Health) {
  const total = targets.reduce((sum, { weight }) => sum + weight, 0)
  const targetView = ({ model, weight }: TargetConfig) => {
    const state = health.get(model)
    return { model, weight, ...(state && { health: state }) }
  }
  return {
    name,
    line: at.line,
    targets: targets.map((each) => ({ ...targetView(each), ...(choose === 'weight' && { share: each.weight / total }) })),
    fallbacks: fallbacks.map(targetView),
  }
}
