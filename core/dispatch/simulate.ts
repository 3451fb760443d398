import type { AssumedCause, RetryCause } from '../config/schema/retry-causes.ts'
import type { ErrorName } from '../error-table.ts'
import { GatewayError } from '../errors.ts'
import type { LimitReached } from '../limits/namespace-limits.ts'
import type { Route, Target } from '../routing/route.ts'
import type { RoutingTable } from '../routing/table.ts'
import type { Call, Principal } from '../sdk/api.ts'
import { after, begin, choose, errorOf, note, type SelectionContext } from './plan.ts'

/** The conditions of a simulated call. */
export interface Conditions {
  readonly call: Call
  readonly selection: SelectionContext
  /** The namespaces and models that fail or are at their limits. The entry of a model takes precedence over that of its namespace. */
  readonly failing: ReadonlyMap<string, AssumedCause>
  /** Monotonic milliseconds. A simulation uses up the retry budget as a call does; a minute later it is full again. */
  readonly now: number
}

/** The course of a simulated call. */
export interface Simulation {
  /** The attempts in their order: model ids, and the causes of failures. */
  readonly attempts: readonly { readonly id: string; readonly cause?: RetryCause }[]
  /** The model id that serves the call, or the name of the error that it ends with. */
  readonly end: string
}

/** The errors of the causes. */
const ERRORS: Readonly<Record<RetryCause, ErrorName>> = {
  connect: 'upstream_unreachable',
  timeout: 'upstream_timeout',
  disconnected: 'upstream_disconnected',
  invalid_response: 'upstream_invalid_response',
  '429': 'upstream_rate_limited',
  '5xx': 'upstream_error',
  credential: 'upstream_authentication_error',
  not_found: 'upstream_model_not_found',
}

/** Simulates a call on a route, without any upstream, and without counters: a limit is reached only where the conditions say so. */
export function simulate(route: Route, { call, selection, failing, now }: Conditions): Simulation {
  let plan = begin(route, call, selection, now)
  const attempts: { id: string; cause?: RetryCause }[] = []
  for (;;) {
    const { plan: planned, next } = choose(plan, now)
    if (next === undefined) return { attempts, end: errorOf(planned, now).row }
    note(next, now)
    const { target } = next.candidate
    const cause = failing.get(target.id) ?? failing.get(target.served.namespace)
    if (cause === 'limited') {
      plan = after(planned, { kind: 'limited', reached: LIMIT_REACHED }, now)
      continue
    }
    attempts.push({ id: target.id, ...(cause !== undefined && { cause }) })
    if (cause === undefined) return { attempts, end: target.id }
    plan = after(planned, { kind: 'failed', error: new GatewayError(rowOf(cause, target)) }, now)
  }
}

/** It is not known when there is room again, so that no call waits. */
const LIMIT_REACHED: LimitReached = {
  refusedBy: 'requests',
  retryAfterMs: 0,
  waitMs: 0,
  isTooLarge: false,
}

/** If the client named the upstream's model, it is the client's error that the model does not exist. */
const rowOf = (cause: RetryCause, { passedThrough }: Target): ErrorName =>
  cause === 'not_found' && passedThrough ? 'model_not_found' : ERRORS[cause]

/** A live key that may call every model, for simulations without a key. */
export const ANY_KEY: Principal = Object.freeze({ keyId: 'any', name: 'any', kind: 'live', account: 'any', models: [] })

/** The route of a principal's calls; undefined if the model is unknown or the principal may not call it. */
export function routeFor(table: RoutingTable, name: string, principal: Principal): Route | undefined {
  const model = table.resolve(name)
  if (model === undefined) return undefined
  try {
    return table.route(model, principal)
  } catch (error) {
    if (error instanceof GatewayError) return undefined
    throw error
  }
}
