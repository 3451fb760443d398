import { RETRY_CAUSES } from '../../../core/config/schema/retry-causes.ts'
import { memoryLimits } from '../../../core/limits/limits.ts'
import { Handlers } from '../../../core/routing/handler.ts'
import type { Branch, Candidate, Choice, Route } from '../../../core/routing/route.ts'
import { type StateOptions, UpstreamState } from '../../../core/routing/upstream-state.ts'
import type { ParameterTable, Provider } from '../../../core/sdk/api.ts'
import { testHost } from '../../../core/testing/kit.ts'

/** States of upstreams that nobody watches. */
export const UNWATCHED: StateOptions = {
  listener: { known: () => undefined, changed: () => undefined, forgotten: () => undefined, skipped: () => undefined },
  services: { limits: memoryLimits(), counting: testHost(), onLimited: () => undefined },
}
const TIMEOUTS = { connect: 1000, firstByte: 1000, idle: 1000, total: 10_000 }

/** What a candidate of a test may differ in. */
export interface CandidateOptions {
  readonly parameters?: ParameterTable
  readonly refreshes?: boolean
  readonly strict?: boolean
  readonly defaults?: Readonly<Record<string, unknown>>
  readonly breaker?: boolean
  /** Another candidate whose upstream this one is at too. */
  readonly beside?: Candidate
}

/** A candidate by its id, at an upstream of its own that nobody asks. */
export function candidate(id: string, options: CandidateOptions = {}): Candidate {
  const [namespace = '', model = ''] = id.split('/')
  const { parameters = 'verbatim', refreshes = false, strict = false, defaults, breaker = true, beside } = options
  const upstream = beside?.target.upstream ?? new UpstreamState(namespace, { breaker }, UNWATCHED)
  const provider: Provider = {
    parameters,
    refreshes,
    request: () => {
      throw new Error('nobody sends it')
    },
  }
  const served = { namespace, model, provider: 'test' }
  const target = {
    id,
    served,
    provider,
    handlers: new Handlers(provider),
    upstream,
    fetches: { allowed: [], own: [] },
    health: upstream.named(model),
    keptObjects: false,
    keepReasoning: true,
    sticky: 'session' as const,
    passedThrough: false,
  }
  return { target, timeouts: TIMEOUTS, defaults, strict }
}

/** A branch to a candidate. */
export const branch = (id: string | Candidate, weight = 1): Branch => ({
  weight,
  candidate: typeof id === 'string' ? candidate(id) : id,
})

/** A choice by weight, without fallbacks, unless told otherwise. */
export const choice = (parts: Partial<Choice> & Pick<Choice, 'targets'>): Choice => ({
  id: 'acme/smart',
  by: 'weight',
  sticky: 'session',
  fallbacks: [],
  ...parts,
})

/** A curated model that asks these candidates in this order. */
export function route(candidates: readonly Candidate[], retry: Partial<Route['retry']> = {}): Route {
  const [first, ...others] = candidates
  const leads = choice({ targets: [branch(first!)], fallbacks: others.map((other) => branch(other)) })
  return { id: 'acme/smart', leads, retry: { attempts: 3, on: new Set(RETRY_CAUSES), ...retry }, total: 10_000 }
}
