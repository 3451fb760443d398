import type { Health, Namespace, RoutingTable, Target } from '../../api/operations.ts'

/** One choice at the right end of a lane. */
export interface LaneEnd {
  readonly name: string
  readonly kind: 'target' | 'fallback' | 'provider'
  /** 0 to 1; absent where there is no choice. */
  readonly share?: number
  readonly health?: Health
}

/** From the names that clients use to what answers them. */
export interface Lane {
  /** `acme/smart`, or `openai/*` where any model passes. */
  readonly name: string
  readonly aliases: readonly string[]
  /** Of routes.yaml. */
  readonly line: number
  /** Why nothing answers. */
  readonly dormant: string | undefined
  /** The allow-list of a namespace; empty: any model. */
  readonly models: readonly string[]
  readonly ends: readonly LaneEnd[]
}

/** The table as lanes: one for each curated route, one for each namespace with a provider. */
export function lanesOf({ aliases, namespaces }: RoutingTable): readonly Lane[] {
  const named = namespaces.flatMap((namespace) => [...curated(namespace), ...passing(namespace)])
  return named.map((lane) => ({ ...lane, aliases: aliases.filter(({ to }) => leadsTo(to, lane.name)).map(({ name }) => name) }))
}

function curated({ name, routes }: Namespace): Omit<Lane, 'aliases'>[] {
  return routes.map((route) => ({
    name: `${name}/${route.name}`,
    line: route.line,
    dormant: undefined,
    models: [],
    ends: [...route.targets.map(endOf('target')), ...route.fallbacks.map(endOf('fallback'))],
  }))
}

function passing({ name, line, provider, dormant, models = [] }: Namespace): Omit<Lane, 'aliases'>[] {
  if (provider === null) return []
  return [{ name: `${name}/*`, line, dormant, models, ends: [{ name: provider, kind: 'provider' }] }]
}

const endOf =
  (kind: LaneEnd['kind']) =>
  ({ model, share, health }: Target): LaneEnd => ({
    name: model,
    kind,
    ...(health && { health }),
    ...(share !== undefined && { share }),
  })

/** `acme/*` is where `acme/anything` leads. */
const leadsTo = (model: string, lane: string): boolean =>
  model === lane || (lane.endsWith('/*') && model.startsWith(lane.slice(0, -1)))
