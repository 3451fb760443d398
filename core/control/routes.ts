import { Type } from 'typebox'
import type { RouteConfig, TargetConfig } from '../config/config.ts'
import type { Generation } from '../http/generation.ts'
import type { RoutingTable } from '../routing/table.ts'
import { type Route, route } from './operation.ts'

const target = Type.Object({
  model: Type.String({ description: 'A model id, of an upstream or of another curated model.' }),
  weight: Type.Number(),
  share: Type.Optional(Type.Number({ description: 'Of the calls, from 0 to 1, where weights decide.' })),
  health: Type.Optional(
    Type.Enum(['closed', 'open', 'half_open'], { description: "Its breaker's state; absent for what is no upstream's model." }),
  ),
})

const curatedModel = Type.Object({
  name: Type.String({ description: 'What stands behind the namespace.' }),
  line: Type.Integer(),
  targets: Type.Array(target),
  fallbacks: Type.Array(target, { description: 'In the order in which they follow.' }),
})

const namespace = Type.Object({
  name: Type.String(),
  provider: Type.Union([Type.String(), Type.Null()], { description: 'Null: its models stand for those of other namespaces.' }),
  dormant: Type.Optional(Type.String({ description: 'What is not set: nothing answers for it.' })),
  models: Type.Optional(Type.Array(Type.String(), { description: 'Names and globs; absent: any model passes through.' })),
  line: Type.Integer({ description: 'Of the routing table.' }),
  routes: Type.Array(curatedModel),
})

/** `now`: monotonic milliseconds. */
function healthOf({ namespaces }: RoutingTable, id: string, now: number) {
  const slash = id.indexOf('/')
  const healths = namespaces.get(id.slice(0, slash))?.upstream?.state.healths
  const health = healths?.get(id.slice(slash + 1))?.state(now)
  return health && { health }
}

function showRoute([name, { targets, fallbacks, choose, at }]: [string, RouteConfig], table: RoutingTable, now: number) {
  const whole = targets.reduce((sum, { weight }) => sum + weight, 0)
  const show = ({ model, weight }: TargetConfig) => ({ model, weight, ...healthOf(table, model, now) })
  return {
    name,
    line: at.line,
    targets: targets.map((each) => ({ ...show(each), ...(choose === 'weight' && { share: each.weight / whole }) })),
    fallbacks: fallbacks.map(show),
  }
}

function showTable({ config, table }: Generation, now: number) {
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
    routes: [...routes].map((entry) => showRoute(entry, table, now)),
  }))
  return { aliases: Array.from(config.aliases, ([name, to]) => ({ name, to })), namespaces: [...curated, ...upstreams] }
}

/** The routing table as a graph. */
export const tableRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/routes',
    role: 'admin',
    summary: 'What answers for which name, and how it fares',
    reply: Type.Object({
      aliases: Type.Array(Type.Object({ name: Type.String(), to: Type.String() })),
      namespaces: Type.Array(namespace),
    }),
    handle: async (_, { live }) => showTable(live.generation, performance.now()),
  }),
]
