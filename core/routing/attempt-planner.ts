import { type ErrorName, GatewayError } from '../errors.ts'
import type { Call, RouteTrace } from '../sdk/api.ts'
import { droppedParameters, type Operation, operationOf, parameterSupport, tableFor, withDefaults } from './operation.ts'
import { backOff, type FailurePolicy, policyFor } from './retry.ts'
import type { Candidate, Route } from './route.ts'
import { inOrder } from './selection.ts'
import type { UpstreamState } from './upstream-state.ts'

/** Where a call goes next. */
export interface PlannedAttempt {
  readonly candidate: Candidate
  /** How its provider serves the call's endpoint. */
  readonly operation: Operation
  /** The call with the route's defaults in it. */
  readonly call: Call
  /** Parameters that the provider leaves out. */
  readonly dropped: readonly string[]
  /** Milliseconds to wait before. */
  readonly pauseMs: number
  /** On a new connection: the one of the try before was stale. */
  readonly fresh: boolean
  /** The upstream refused the credential of the try before, which the provider can replace. */
  readonly credentialRefused: boolean
  /** Whether another try may follow: then a stream is held until it carries something. */
  readonly hold: boolean
}

/** Who calls, and what chance decides. */
export interface SelectionContext {
  /** The id of the caller's key. */
  readonly key: string
  /** From 0 up to 1. */
  readonly random: () => number
}

/** The way of one call through the candidates of its route: whom to ask next, after what has happened so far. */
export class AttemptPlanner {
  readonly #route: Route
  readonly #call: Call
  readonly #traveller: SelectionContext
  readonly #candidates: readonly Candidate[]
  #at = 0
  #tries = 0
  #pauses = 0
  #ambiguous = false
  #over = false
  /** The last stop. */
  #here: PlannedAttempt | undefined
  /** The same target once more. */
  #repeat: PlannedAttempt | undefined
  /** Those that may be asked again when all have been asked, and how long their upstream asked to be left alone. */
  #again: { readonly candidate: Candidate; readonly cooldownMs: number }[] = []
  #asked: UpstreamState[] = []
  /** The last try's. */
  #error: GatewayError | undefined
  /** Why the first candidate that cannot serve such a call cannot. */
  #unfit: { readonly candidate: Candidate; readonly error: GatewayError } | undefined
  #skipped: { readonly target: string; readonly why: ErrorName }[] = NOBODY
  /** When the first of those that are shut may be asked again. */
  #readyAt = Number.POSITIVE_INFINITY
  #retryAfter = Number.POSITIVE_INFINITY

  constructor(route: Route, call: Call, traveller: SelectionContext) {
    this.#route = route
    this.#call = call
    this.#traveller = traveller
    this.#candidates = 'target' in route.leads ? [route.leads] : preferred(route.leads, call, traveller)
  }

  /**
   * The next stop; undefined where there is none: then `error` says why. `now`: monotonic milliseconds. `until`: no pause that would
   * last longer is begun.
   */
  next(now: number, until = Number.POSITIVE_INFINITY): PlannedAttempt | undefined {
    const stop = this.#repeat ?? this.#onward(now, until)
    this.#repeat = undefined
    this.#here = stop ?? this.#here
    return stop
  }

  /** What the call failed with, when there is no next stop. */
  get error(): GatewayError {
    const error = this.#error ?? this.#unfit?.error ?? circuitOpen(this.#readyAt - performance.now())
    if (error.row === 'upstream_rate_limited' && this.#retryAfter !== Number.POSITIVE_INFINITY)
      error.headers = { ...error.headers, 'retry-after': String(this.#retryAfter) }
    return this.#tries > 1 ? error.forbidRetry() : error
  }

  /** How the call was led so far. */
  get trace(): RouteTrace {
    const { target } = this.#here?.candidate ?? this.#unfit?.candidate ?? {}
    const call = this.#here?.call ?? this.#call
    const operation = target && operationOf(target.provider, call.endpoint)
    return {
      route: this.#route.id,
      skipped: this.#skipped,
      parameters: operation === undefined ? {} : parameterSupport(call, tableFor(operation, target!.served.model)),
    }
  }

  /** The try at the last stop failed. `stale`: on a connection that the upstream had closed already. */
  failed(error: GatewayError, stale: boolean): void {
    const stop = this.#here!
    if (error.row === 'unsupported_parameter') {
      this.#tries--
      this.#unfit ??= { candidate: stop.candidate, error }
      return
    }
    // It had no place for the call: it was not tried.
    if (error.row === 'upstream_busy') {
      this.#tries--
      this.#skip(stop.candidate, 'upstream_busy')
    }
    this.#error = error
    this.#retryAfter = Math.min(this.#retryAfter, Number(error.headers['retry-after'] ?? Number.POSITIVE_INFINITY))
    if (this.#over) return
    if (stale && !stop.fresh) this.#repeat = { ...stop, fresh: true, pauseMs: 0 }
    else if (isRenewable(stop, error)) this.#repeat = { ...stop, credentialRefused: true, pauseMs: 0 }
    else this.#consider(policyFor(error), stop.candidate)
  }

  /** The last stop's target was shut while the call waited for it. */
  skipOpenTarget(): void {
    this.#tries--
    this.#skipOpen(this.#here!.candidate)
  }

  /** No further stop: the call's time is up. What it failed with before is more telling than that. */
  end(error: GatewayError): void {
    this.#over = true
    this.#error ??= error
  }

  #consider({ cause, again, cooldownMs = 0 }: FailurePolicy, candidate: Candidate): void {
    // One that may have been served already is tried once more, not again and again.
    const isAmbiguous = again === 'at once'
    if (cause === undefined || !this.#route.retry.on.has(cause) || (isAmbiguous && this.#ambiguous)) this.#over = true
    this.#ambiguous ||= isAmbiguous
    if (again !== undefined) this.#again.push({ candidate, cooldownMs })
  }

  #onward(now: number, until: number): PlannedAttempt | undefined {
    while (this.#mayTry && this.#at < this.#candidates.length) {
      const stop = this.#stopAt(this.#candidates[this.#at++]!, now)
      if (stop !== undefined) return stop
    }
    while (this.#mayTry && this.#again.length > 0) {
      const { candidate, cooldownMs } = this.#again.shift()!
      const pauseMs = backOff(this.#pauses, cooldownMs, this.#traveller.random)
      const stop = now + pauseMs < until ? this.#stopAt(candidate, now, pauseMs) : undefined
      if (stop === undefined) continue
      this.#pauses++
      return stop
    }
    return undefined
  }

  get #mayTry(): boolean {
    return !this.#over && this.#tries < this.#route.retry.attempts
  }

  /** Undefined where the candidate is passed over. */
  #stopAt(candidate: Candidate, now: number, pauseMs = 0): PlannedAttempt | undefined {
    const { upstream, health } = candidate.target
    if (health.availability(now) === 'open') return this.#skipOpen(candidate)
    const call = candidate.defaults === undefined ? this.#call : withDefaults(this.#call, candidate.defaults)
    const operation = operationOf(candidate.target.provider, call.endpoint)
    if (operation === undefined) return this.#skipUnfit(candidate, notServed(call))
    const { maxBody: limit = Number.POSITIVE_INFINITY } = candidate.target.provider
    if (call.size > limit) return this.#skipUnfit(candidate, new GatewayError('request_too_large', { values: { limit } }))
    const dropped = this.#fit(candidate, operation, call)
    if (dropped === undefined) return undefined
    if (!this.#affords(upstream, now)) return this.#skip(candidate, 'upstream_busy')
    this.#tries++
    const hold = this.#tries < this.#route.retry.attempts
    return { candidate, operation, call, dropped, pauseMs, fresh: false, credentialRefused: false, hold }
  }

  /** What the candidate's provider leaves out; undefined where that would make another request of it: then it is passed over. */
  #fit(candidate: Candidate, operation: Operation, call: Call): readonly string[] | undefined {
    const { target, strict } = candidate
    const parameters = tableFor(operation, target.served.model)
    if (parameters === 'verbatim') return NONE
    try {
      const dropped = droppedParameters(call.body, parameters)
      if (strict && dropped[0] !== undefined) throw new GatewayError('unsupported_parameter', { param: dropped[0] })
      return dropped
    } catch (error) {
      if (!(error instanceof GatewayError) || error.row !== 'unsupported_parameter') throw error
      return this.#skipUnfit(candidate, error)
    }
  }

  #skipUnfit(candidate: Candidate, error: GatewayError): undefined {
    this.#unfit ??= { candidate, error }
    this.#skip(candidate, error.row)
  }

  #skipOpen(candidate: Candidate): undefined {
    this.#readyAt = Math.min(this.#readyAt, candidate.target.health.availableAt)
    this.#skip(candidate, 'upstream_circuit_open')
  }

  #skip({ target }: Candidate, why: ErrorName): undefined {
    this.#skipped = [...this.#skipped, { target: target.id, why }]
  }

  /** Asking the same upstream a second time takes from its budget of retries. */
  #affords(upstream: UpstreamState, now: number): boolean {
    if (this.#asked.includes(upstream)) return upstream.budget.spend(now)
    this.#asked.push(upstream)
    upstream.budget.earn()
    return true
  }
}

/** Whether the upstream has refused a credential that the stop's provider can replace, and has not replaced yet. */
export const isRenewable = ({ candidate, credentialRefused }: PlannedAttempt, { row }: GatewayError): boolean =>
  row === 'upstream_authentication_error' && candidate.target.provider.refreshes === true && !credentialRefused

const NONE: readonly string[] = []
const NOBODY: { readonly target: string; readonly why: ErrorName }[] = []

/** Those that rest come last. */
function preferred(choice: Parameters<typeof inOrder>[0], call: Call, { key, random }: SelectionContext): readonly Candidate[] {
  const now = performance.now()
  const ordered = inOrder(choice, { key, user: userOf(call), random })
  const isCoolingDown = ({ target }: Candidate): boolean => target.health.availability(now) === 'coolingDown'
  return ordered.some(isCoolingDown)
    ? [...ordered.filter((candidate) => !isCoolingDown(candidate)), ...ordered.filter(isCoolingDown)]
    : ordered
}

function userOf(call: Call): string | undefined {
  const user = call.member('user')
  return typeof user === 'string' ? user : undefined
}

const notServed = ({ model }: Call): GatewayError =>
  new GatewayError('unsupported_endpoint', { param: 'model', values: { model: model.id } })

/** Every target's breaker is open. */
function circuitOpen(ms: number): GatewayError {
  const seconds = Math.min(Math.max(Math.ceil(ms / 1000), 1), 60)
  return new GatewayError('upstream_circuit_open', { headers: { 'retry-after': String(seconds) } })
}
