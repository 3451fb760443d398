import type {
  Credential,
  DiscoveryError,
  Health,
  LastCall,
  LastError,
  Namespace,
  RecentAttempts,
  RoutingTable,
  Target,
} from '../../api/operations.ts'

/** A target, a fallback or a provider: the right end of a lane. */
export interface LaneEnd {
  readonly name: string
  readonly kind: 'target' | 'fallback' | 'provider'
  /** 0 to 1; absent if there is only one. */
  readonly share?: number
  readonly health?: Health
  /** Absent: none since the gateway started. */
  readonly lastCall?: LastCall
  /** Absent: no attempts since the gateway started. */
  readonly recent?: RecentAttempts
  /** Absent: none since the gateway started. */
  readonly lastError?: LastError
}

/** A row of the graph: the names that clients use, and what serves them. */
export interface Lane {
  /** `acme/smart`, or `openai/*` for any model of a namespace. */
  readonly name: string
  readonly aliases: readonly string[]
  /** Of routes.yaml. */
  readonly line: number
  /** Why it serves no calls. */
  readonly dormant: string | undefined
  /** The allow-list of a namespace; empty: any model. */
  readonly models: readonly string[]
  /** Those that share the calls of a namespace; empty if there are not several. */
  readonly credentials: readonly Credential[]
  /** Why the models of a namespace could not be listed the last time. */
  readonly discoveryError: DiscoveryError | undefined
  readonly ends: readonly LaneEnd[]
}

/** The lanes of the routing table: one for each route, one for each namespace with a provider. */
export function lanesOf({ aliases, namespaces }: RoutingTable): readonly Lane[] {
  const named = namespaces.flatMap((namespace) => [...curated(namespace), ...passing(namespace)])
  const lanes = new Set(named.map(({ name }) => name))
  // An alias to `acme/any` belongs to `acme/any`, or else to `acme/*`.
  const byLane = Map.groupBy(aliases, ({ to }) => (lanes.has(to) ? to : `${to.slice(0, to.indexOf('/'))}/*`))
  return named.map((lane) => ({ ...lane, aliases: (byLane.get(lane.name) ?? []).map(({ name }) => name) }))
}

/** Whether a lane has a text in one of its names. */
export function laneFits({ name, aliases, ends }: Lane, text: string): boolean {
  const wanted = text.toLowerCase()
  return [name, ...aliases, ...ends.map((end) => end.name)].some((each) => each.toLowerCase().includes(wanted))
}

function curated({ name, routes }: Namespace): Omit<Lane, 'aliases'>[] {
  return routes.map((route) => ({
    name: `${name}/${route.name}`,
    line: route.line,
    dormant: undefined,
    models: [],
    credentials: [],
    discoveryError: undefined,
    ends: [...route.targets.map(endOf('target')), ...route.fallbacks.map(endOf('fallback'))],
  }))
}

function passing({ name, provider, models = [], credentials = [], ...namespace }: Namespace): Omit<Lane, 'aliases'>[] {
  if (provider === null) return []
  const { line, dormant, discovery_error: discoveryError } = namespace
  const ends: readonly LaneEnd[] = [{ name: provider, kind: 'provider' }]
  return [{ name: `${name}/*`, line, dormant, models, credentials, discoveryError, ends }]
}

const endOf =
  (kind: LaneEnd['kind']) =>
  ({ model, share, health, last_call: lastCall, recent, last_error: lastError }: Target): LaneEnd => ({
    name: model,
    kind,
    ...(health && { health }),
    ...(lastCall && { lastCall }),
    ...(recent && { recent }),
    ...(lastError && { lastError }),
    ...(share !== undefined && { share }),
  })
