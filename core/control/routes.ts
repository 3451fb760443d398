import { Type } from 'typebox'
import type { Config, RouteConfig, TargetConfig } from '../config/config.ts'
import type { CredentialReport } from '../routing/credentials.ts'
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
    last_call: Type.Optional(
      oneOf(
        ['succeeded', 'failed'],
        "How the last attempt at it ended; absent before the first one since the start. A caller's mistake is no failure.",
      ),
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

const credentialSchema = Type.Object(
  {
    name: Type.String(),
    cooldown_seconds: Type.Integer({ description: 'Until it is used in its turn again; 0 if it is not cooling down.' }),
  },
  { title: 'Credential' },
)

const namespaceSchema = Type.Object(
  {
    name: Type.String(),
    provider: nullable(Type.String(), 'Null for a namespace of routes.'),
    dormant: Type.Optional(Type.String({ description: 'What is missing: the namespace serves no calls.' })),
    credentials: Type.Optional(
      Type.Array(credentialSchema, { description: 'Those that share its calls; absent: it has one, or none.' }),
    ),
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
      const reports = await targets()
      const health = new Map(reports.map((report) => [`${report.namespace}/${report.model}`, report]))
      const credentials = new Map(reports.map(({ namespace, credentials }) => [namespace, credentials]))
      return tableView(live.generation.config, { health, credentials })
    },
  }),
]

/** The state of each target, by model id. */
type Health = ReadonlyMap<string, TargetReport>

interface TableState {
  readonly health: Health
  /** By namespace. */
  readonly credentials: ReadonlyMap<string, readonly CredentialReport[]>
}

function tableView(config: Config, { health, credentials: reports }: TableState) {
  const upstreams = [...config.namespaces.values()].map(({ name, plugin, dormant, credentials, models, at }) => ({
    name,
    provider: plugin.name,
    ...(dormant !== undefined && { dormant: `${dormant} is not set` }),
    ...(credentials && { credentials: credentialViews([...credentials.keys()], reports.get(name)) }),
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

/** Until a model of the namespace is known, nothing is reported of its credentials: none can be cooling down. */
function credentialViews(names: readonly string[], reports: readonly CredentialReport[] = []) {
  return names.map((name) => {
    const { cooldownMs = 0 } = reports.find((report) => report.name === name) ?? {}
    return { name, cooldown_seconds: Math.ceil(cooldownMs / 1000) }
  })
}

function routeView([name, { targets, fallbacks, choose, at }]: [string, RouteConfig], health: Health) {
  const total = targets.reduce((sum, { weight }) => sum + weight, 0)
  const targetView = ({ model, weight }: TargetConfig) => {
    const state = health.get(model)
    if (state === undefined) return { model, weight }
    const { breaker, last } = state
    const lastCall = last && { last_call: last.failed ? ('failed' as const) : ('succeeded' as const) }
    return { model, weight, health: breaker, ...lastCall }
  }
  return {
    name,
    line: at.line,
    targets: targets.map((each) => ({ ...targetView(each), ...(choose === 'weight' && { share: each.weight / total }) })),
    fallbacks: fallbacks.map(targetView),
  }
}
