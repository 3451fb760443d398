import type { Timeouts } from '../config/config.ts'
import type { RetryCause } from '../config/schema/retry-causes.ts'
import type { Sticky } from '../config/schema/sticky.ts'
import type { FetchRules } from '../protocol/addresses.ts'
import type { Provider, Served } from '../sdk/api.ts'
import type { UpstreamClient } from '../upstream/client.ts'
import type { Handlers } from './handler.ts'
import type { TargetHealth } from './health.ts'
import type { UpstreamState } from './upstream-state.ts'

/** One model at one upstream. */
export interface Target {
  /** `<namespace>/<model>`, as the upstream calls the model. */
  readonly id: string
  readonly served: Served
  readonly provider: Provider
  readonly handlers: Handlers
  readonly upstream: UpstreamState
  /** Sends its calls; absent: the client of all upstreams without settings of TLS. */
  readonly client?: UpstreamClient | undefined
  /** By the name of a credential, what all gateways with this credential know; by undefined if the namespace has only one. */
  readonly secrets?: ReadonlyMap<string | undefined, string> | undefined
  /** The addresses in calls that its upstream may fetch. */
  readonly fetches: FetchRules
  readonly health: TargetHealth
  /** The tools that calls may let the vendor run. Absent: callers without a budget may use any, others none. */
  readonly hostedTools?: readonly string[] | undefined
  /** Whether calls may refer to what the upstream keeps for all who use its credential. */
  readonly keptObjects: boolean
  /** Whether reasoning is kept for clients that do not send it back. */
  readonly keepReasoning: boolean
  /** By what calls keep to one of its credentials, if it has several. */
  readonly sticky: Sticky
  /** True if routes.yaml does not name the model: if it does not exist upstream, that is the client's error. */
  readonly passedThrough: boolean
}

/** A target as one route uses it. */
export interface Candidate {
  readonly target: Target
  readonly timeouts: Timeouts
  /** Parameters for calls that do not send them. */
  readonly defaults: Readonly<Record<string, unknown>> | undefined
  /** Whether the target is skipped if the provider would drop a parameter. */
  readonly strict: boolean
}

/** A branch of a choice: a candidate, or a choice of its own. */
export type Branch = { readonly weight: number } & ({ readonly candidate: Candidate } | { readonly choice: Choice })

/** The weighted targets of a curated model, and its fallbacks. */
export interface Choice {
  /** The curated model: `acme/smart`. */
  readonly id: string
  readonly by: 'weight' | 'latency' | 'busy'
  readonly sticky: Sticky
  readonly targets: readonly Branch[]
  /** In order. */
  readonly fallbacks: readonly Branch[]
}

/** The route of the calls to one model id. */
export interface Route {
  readonly id: string
  /** A model of a namespace has one candidate; a curated one has a choice of them. */
  readonly leads: Candidate | Choice
  readonly retry: {
    /** The most attempts of one call, the first included. */
    readonly attempts: number
    readonly on: ReadonlySet<RetryCause>
  }
  /** Milliseconds for all attempts together. */
  readonly total: number
}

/** Whether a call may go to one of several targets, or use one of several credentials. */
export function hasChoice(leads: Route['leads']): boolean {
  if ('target' in leads) return leads.target.upstream.credentials !== undefined
  return (
    leads.targets.length > 1 ||
    [...leads.targets, ...leads.fallbacks].some((branch) => hasChoice('candidate' in branch ? branch.candidate : branch.choice))
  )
}

/** All candidates of a route, in any order; a target may be several of them. */
export function candidatesOf(leads: Route['leads']): readonly Candidate[] {
  if ('target' in leads) return [leads]
  return [...leads.targets, ...leads.fallbacks].flatMap((branch) =>
    candidatesOf('candidate' in branch ? branch.candidate : branch.choice),
  )
}
