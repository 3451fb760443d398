import type { RetryCause } from '../config/schema/retry-causes.ts'
import { type ErrorName, GatewayError } from '../errors.ts'
import type { Call, Principal } from '../sdk/api.ts'
import { AttemptPlanner, type SelectionContext } from './attempt-planner.ts'
import type { Route, Target } from './route.ts'
import type { RoutingTable } from './table.ts'

/** Under what circumstances a call is made. */
export interface Circumstances {
  readonly call: Call
  readonly traveller: SelectionContext
  /** Which namespaces, or models of them, fail and how; a model's own entry counts before its namespace's. */
  readonly failing: ReadonlyMap<string, RetryCause>
  /** Monotonic milliseconds. Rehearsals use up retries as calls do: a minute later they are back. */
  readonly now: number
}

/** How a call would go. */
export interface Simulation {
  /** The model ids asked, in order, each with why it failed. */
  readonly tries: readonly { readonly id: string; readonly cause?: RetryCause }[]
  /** The model id that serves the call, or the name of the error that it ends with. */
  readonly end: string
}

/** By what errors the causes show. */
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

/** Sends a call along its route, as far as it can go without asking any upstream. */
export function simulate(route: Route, { call, traveller, failing, now }: Circumstances): Simulation {
  const itinerary = new AttemptPlanner(route, call, traveller)
  const tries: { id: string; cause?: RetryCause }[] = []
  for (;;) {
    const target = itinerary.next(now)?.candidate.target
    if (target === undefined) return { tries, end: itinerary.error.row }
    const cause = failing.get(target.id) ?? failing.get(target.served.namespace)
    tries.push({ id: target.id, ...(cause !== undefined && { cause }) })
    if (cause === undefined) return { tries, end: target.id }
    itinerary.failed(new GatewayError(errorOf(cause, target)), false)
  }
}

/** Where the client chose the model, it is the client's affair that it does not exist. */
const errorOf = (cause: RetryCause, { passedThrough }: Target): ErrorName =>
  cause === 'not_found' && passedThrough ? 'model_not_found' : ERRORS[cause]

/** A live key that may call every model: what stands for callers where none is named. */
export const ANY_KEY: Principal = Object.freeze({ keyId: 'any', name: 'any', kind: 'live', account: 'any', models: [] })

/** The route by which calls of a principal are served; undefined where there is none, or none for it. */
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
