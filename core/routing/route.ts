import type { Timeouts } from '../config/config.ts'
import type { RetryCause } from '../config/schema/retry-causes.ts'
import type { Provider, Served } from '../sdk/api.ts'
import type { TargetHealth } from './protection.ts'
import type { UpstreamState } from './upstream-state.ts'

/** One model at one upstream. */
export interface Target {
  /** `<namespace>/<model>`, as the upstream calls the model. */
  readonly id: string
  readonly served: Served
  readonly provider: Provider
  readonly upstream: UpstreamState
  readonly health: TargetHealth
  /** The table does not name the model: if it does not exist, that is the client's affair. */
  readonly passedThrough: boolean
}

/** A target as one route asks it. */
export interface Candidate {
  readonly target: Target
  readonly timeouts: Timeouts
  /** Parameters for a client that sends none. */
  readonly defaults: Readonly<Record<string, unknown>> | undefined
  /** Whether a parameter that the provider would drop makes the target unfit. */
  readonly strict: boolean
}

/** One way that a choice can go: to a candidate, or to a choice of its own. */
export type Branch = { readonly weight: number } & ({ readonly candidate: Candidate } | { readonly choice: Choice })

/** Who shares the calls to a curated model, and who follows when they fail. */
export interface Choice {
  /** The curated model: `acme/smart`. */
  readonly id: string
  readonly by: 'weight' | 'latency' | 'busy'
  readonly sticky: 'key' | 'user' | undefined
  readonly targets: readonly Branch[]
  /** In order. */
  readonly fallbacks: readonly Branch[]
}

/** What serves the calls to one model id. */
export interface Route {
  readonly id: string
  /** A model of a namespace has one candidate; a curated one has a choice of them. */
  readonly leads: Candidate | Choice
  readonly retry: {
    /** The most tries of one call, the first included. */
    readonly attempts: number
    readonly on: ReadonlySet<RetryCause>
  }
  /** Milliseconds for all tries together. */
  readonly total: number
}
