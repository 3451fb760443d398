import { Type } from 'typebox'
import type { Config, RouteConfig, TargetConfig } from '../config/config.ts'
import type { CredentialReport } from '../routing/credentials.ts'
import type { FailedDiscovery } from '../routing/discovery.ts'
import type { RoutingTable } from '../routing/table.ts'
import type { TargetReport } from '../routing/upstream-state.ts'
import { meaningOf } from '../usage/calls.ts'
import { nullable, oneOf, time, toTime } from './fields.ts'
import { type Operation, operation } from './operation.ts'

const recentSchema = Type.Object(
  {
    attempts: Type.Integer(),
    failures: Type.Integer({ description: 'By the fault of the upstream.' }),
    since: time('When the time of these numbers began.'),
  },
  {
    title: 'RecentAttempts',
    description: 'The attempts at it in the last minutes, over all processes; absent: none since the start.',
  },
)

const lastErrorSchema = Type.Object(
  {
    at: time('When it ended.'),
    code: Type.String({ description: 'The name of the error, as in the log.' }),
    message: nullable(Type.String(), 'What it means, without the words of the upstream.'),
    status: Type.Optional(Type.Integer({ description: "Of the upstream's reply, if it refused." })),
  },
  {
    title: 'LastError',
    description: 'The last attempt at it that failed by the fault of the upstream; absent: none since the start.',
  },
)

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
        "How the last attempt at it ended; absent before the first one since the start. A caller's mistake does not count as a failure.",
      ),
    ),
    recent: Type.Optional(recentSchema),
    last_error: Type.Optional(lastErrorSchema),
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
    discovery_error: Type.Optional(
      Type.Object(
        {
          at: time('When they were asked for.'),
          cause: Type.String({ description: 'As in the log: `ECONNREFUSED`, `UpstreamError 401`.' }),
        },
        { title: 'DiscoveryError', description: 'Why its models could not be listed the last time; absent: they could.' },
      ),
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
      const { config, table } = live.generation
      return tableView(config, { health, credentials, discoveries: discoveriesOf(table) })
    },
  }),
]

/** The state of each target, by model id. */
type Health = ReadonlyMap<string, TargetReport>

interface TableState {
  readonly health: Health
  /** By namespace. */
  readonly credentials: ReadonlyMap<string, readonly CredentialReport[]>
  readonly discoveries: ReadonlyMap<string, FailedDiscovery>
}

/** The namespaces whose models could not be listed. Starts the requests for lists that are due; a later read of the table has their results. */
function discoveriesOf({ namespaces }: RoutingTable): ReadonlyMap<string, FailedDiscovery> {
  for (const { catalogue } of namespaces.values()) void catalogue.models()
  return new Map(
    [...namespaces.values()].flatMap(({ name, catalogue }) => (catalogue.failure ? [[name, catalogue.failure] as const] : [])),
  )
}

function tableView(config: Config, { health, credentials: reports, discoveries }: TableState) {
  const upstreams = [...config.namespaces.values()].map(({ name, plugin, dormant, credentials, models, at }) => ({
    name,
    provider: plugin.name,
    ...(dormant !== undefined && { dormant: `${dormant} is not set` }),
    ...(credentials && { credentials: credentialViews([...credentials.keys()], reports.get(name)) }),
    ...discoveryView(discoveries.get(name)),
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

const discoveryView = (failed: FailedDiscovery | undefined) =>
  failed && { discovery_error: { at: toTime(failed.at), cause: failed.cause } }

/** The evidence of a target's health. */
function evidenceView({ last, recent, lastFailure }: TargetReport) {
  const ago = (ms: number) => toTime(Date.now() - ms)
  return {
    ...(last && { last_call: last.failed ? ('failed' as const) : ('succeeded' as const) }),
    ...(recent && { recent: { attempts: recent.attempts, failures: recent.failures, since: ago(recent.ms) } }),
    ...(lastFailure && {
      last_error: {
        at: ago(lastFailure.msAgo),
        code: lastFailure.row,
        message: meaningOf(lastFailure.row),
        ...(lastFailure.status !== undefined && { status: lastFailure.status }),
      },
    }),
  }
}

function routeView([name, { targets, fallbacks, choose, at }]: [string, RouteConfig], health: Health) {
  const total = targets.reduce((sum, { weight }) => sum + weight, 0)
  const targetView = ({ model, weight }: TargetConfig) => {
    const state = health.get(model)
    if (state === undefined) return { model, weight }
    return { model, weight, health: state.breaker, ...evidenceView(state) }
  }
  return {
    name,
    line: at.line,
    targets: targets.map((each) => ({ ...targetView(each), ...(choose === 'weight' && { share: each.weight / total }) })),
    fallbacks: fallbacks.map(targetView),
  }
}
