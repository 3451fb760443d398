import type { ErrorName } from '../error-table.ts'
import { GatewayError } from '../errors.ts'
import type { CallForms } from '../protocol/call-forms.ts'
import { type Call, type RouteTrace, UpstreamError } from '../sdk/api.ts'
import { rateLimitError } from '../upstream/failures.ts'
import type { Credential } from './credentials.ts'
import { type LimitReached, limitError } from './limit-share.ts'
import { type Operation, parameterSupport, tableFor } from './operation.ts'
import { circuitOpen, coolingDown } from './protection.ts'
import { backOff, type FailurePolicy, policyFor } from './retry.ts'
import type { Candidate, Route, Target } from './route.ts'
import { coolestFirst, inOrder } from './selection.ts'
import { type CallTerms, droppedBy, keepingCredential, type Serving, type ServingContext, servingOf } from './serving.ts'
import type { UpstreamState } from './upstream-state.ts'

/** The next attempt of a call. */
export interface PlannedAttempt {
  readonly candidate: Candidate
  /** How its provider serves the call's endpoint. */
  readonly operation: Operation
  /** The call, with the route's default parameters. */
  readonly call: Call
  /** The client's own call, if the attempt is a chat completion in place of it. */
  readonly forms: CallForms | undefined
  /** Parameters that the provider leaves out. */
  readonly dropped: readonly string[]
  /** Give the client its own tools in a reply. Absent: the upstream has them as the client has. */
  readonly ownTools?: Serving['ownTools']
  /** The cap that a budget has added to the call. */
  readonly cap?: number | undefined
  /** Milliseconds to wait before. */
  readonly pauseMs: number
  /** On a new connection: the previous attempt met a stale one. */
  readonly fresh: boolean
  /** Of several of its namespace. */
  readonly credential: Credential | undefined
  /** The upstream refused the previous attempt's credential, and the provider can replace it. */
  readonly credentialRefused: boolean
  /** In place of the previous attempt, which its credential failed: it counts as the same one. */
  readonly isRepeat: boolean
  /** Whether another attempt may follow: then a stream is held until its first meaningful event. */
  readonly hold: boolean
  /** Set: the call waits for the limits of the target's namespace, since no other target is left. */
  readonly limited: LimitReached | undefined
}

/** A target that was not attempted. */
export interface SkippedTarget {
  readonly target: Target
  readonly why: RouteTrace['skipped'][number]['why']
}

/** What selection may depend on beside the call. */
export interface SelectionContext {
  /** The id of the caller's key. */
  readonly key: string
  /** The id of the caller's account. */
  readonly account: string
  /** Whether the caller may call a model, by its id. */
  readonly mayCall: (id: string) => boolean
  /** From 0 up to 1. */
  readonly random: () => number
  /** Absent: the call asks for no hosted tools, and is charged to no budget. */
  readonly terms?: CallTerms
}

/** Plans the attempts of one call: which candidate of its route is next, given the failures so far. Does no I/O. */
export class AttemptPlanner {
  readonly #route: Route
  readonly #call: Call
  readonly #selection: SelectionContext
  readonly #context: ServingContext
  /** In the order of the route's choice. */
  readonly #ordered: readonly Candidate[]
  /** The same, those that are cooling down last. */
  readonly #candidates: readonly Candidate[]
  /** How many of them are not cooling down. */
  readonly #ready: number
  #at = 0
  #attempts = 0
  #pauses = 0
  /** The one that was cooling down, was tried all the same, and refused again: others would probably refuse the call too. */
  #inVain: Candidate | undefined
  #ambiguous = false
  #over = false
  /** The attempt planned last. */
  #last: PlannedAttempt | undefined
  /** The same target again, on a new connection or with a new credential. */
  #repeat: PlannedAttempt | undefined
  /** The credentials of the attempts, where there are several. */
  #tried: readonly Credential[] = NONE_TRIED
  /** Candidates to retry after all have been tried, and the pause that their upstream asked for. */
  #again: { readonly candidate: Candidate; readonly cooldownMs: number }[] = []
  #asked: UpstreamState[] = []
  /** The last attempt's. */
  #error: GatewayError | undefined
  /** The first candidate that cannot serve such a call, or the only one that could if it were not cooling down, and the reason. */
  #unfit: { readonly candidate: Candidate; readonly error: GatewayError } | undefined
  /** Planned attempts that the limits of their namespaces had no room for. */
  #limited: readonly LimitedAttempt[] = NONE_LIMITED
  #skipped: readonly SkippedTarget[] = NONE_SKIPPED
  /** When the first of the open breakers permits a probe. */
  #readyAt = Number.POSITIVE_INFINITY
  #retryAfter = Number.POSITIVE_INFINITY

  /** `standIn`: serves the calls of an endpoint that a provider lacks, or its upstream. */
  constructor(route: Route, call: Call, selection: SelectionContext, standIn?: Operation) {
    this.#route = route
    this.#call = call
    this.#selection = selection
    this.#context = { account: selection.account, mayCall: selection.mayCall, standIn, terms: selection.terms ?? NO_TERMS }
    const { key, random } = selection
    this.#ordered = 'target' in route.leads ? [route.leads] : inOrder(route.leads, { key, user: userOf(call), random })
    const { candidates, ready } = coolestFirst(this.#ordered, selection.account)
    this.#candidates = candidates
    this.#ready = ready
  }

  /**
   * The next attempt; undefined if there is none: then `error` is the reason. `now`: monotonic milliseconds. `until`: no planned pause
   * exceeds it.
   */
  next(now: number, until = Number.POSITIVE_INFINITY): PlannedAttempt | undefined {
    const planned = this.#repeat ?? this.#nextCandidate(now, until)
    this.#repeat = undefined
    this.#last = planned ?? this.#last
    return planned
  }

  /** The error of the call if no attempt is left. */
  get error(): GatewayError {
    const last = this.#error ?? this.#refusal
    const retryAfter = Math.min(this.#retryAfter, this.#coolestAfter)
    const error =
      last.row === 'upstream_rate_limited' && retryAfter !== Number.POSITIVE_INFINITY
        ? rateLimitError(retryAfter, last.cause)
        : last
    return this.#attempts > 1 ? error.forbidRetry() : error
  }

  /** Seconds until the first of the targets that were not tried since they cool down is ready. */
  get #coolestAfter(): number {
    if (this.#inVain === undefined) return Number.POSITIVE_INFINITY
    const now = performance.now()
    const waits = this.#candidates.slice(this.#at).map(({ target }) => target.health.cooledDownAt(this.#selection.account) - now)
    return Math.max(1, Math.ceil(Math.min(...waits) / 1000))
  }

  /** The error of a call without any attempt. */
  get #refusal(): GatewayError {
    if (this.#limited.length > 0) return limitError(this.#limited.map(({ limited }) => limited))
    // A candidate that could serve the call will be back.
    const isOpen = this.#readyAt !== Number.POSITIVE_INFINITY
    return (isOpen ? undefined : this.#unfit?.error) ?? circuitOpen(this.#readyAt - performance.now())
  }

  /** The routing of the call so far. */
  get trace(): RouteTrace {
    const candidate = this.#last?.candidate ?? this.#unfit?.candidate
    const serving = this.#last ?? this.#servingIfAny(candidate)
    return {
      route: this.#route.id,
      skipped: this.skipped.map(({ target, why }) => ({ target: target.id, why })),
      parameters:
        serving === undefined ? {} : parameterSupport(serving.call, tableFor(serving.operation, candidate!.target.served.model)),
    }
  }

  /** The targets that were not attempted so far, and why. */
  get skipped(): readonly SkippedTarget[] {
    const isNone = this.#candidates === this.#ordered && this.#skipped === NONE_SKIPPED && this.#limited === NONE_LIMITED
    return isNone ? NONE_SKIPPED : [...this.#coolingDown, ...this.#skipped, ...this.#limited.map(limitedTarget)]
  }

  /** The targets that would have been attempted before the last one, were they not cooling down. */
  get #coolingDown(): readonly SkippedTarget[] {
    if (this.#candidates === this.#ordered || this.#last === undefined) return []
    const before = this.#ordered.slice(0, this.#ordered.indexOf(this.#last.candidate))
    const left = this.#candidates.slice(this.#at)
    return before.filter((each) => left.includes(each)).map(({ target }) => ({ target, why: 'cooling_down' }))
  }

  /**
   * The last attempt failed. `stale`: on a pooled connection that the upstream had closed. `isRepeated`: it is made again, since the gateway itself may
   * have caused the error.
   */
  failed(error: GatewayError, stale: boolean, isRepeated = false): void {
    const last = this.#last!
    if (error.row === 'unsupported_parameter') {
      this.#uncount(last)
      this.#unfit ??= { candidate: last.candidate, error }
      return
    }
    // The upstream had no place for the call, so this was no attempt.
    if (error.row === 'upstream_busy') {
      this.#uncount(last)
      this.#skip(last.candidate, 'upstream_busy')
    }
    this.#error = error
    this.#retryAfter = Math.min(this.#retryAfter, Number(error.headers['retry-after'] ?? Number.POSITIVE_INFINITY))
    if (this.#over) return
    if (stale && !last.fresh) this.#repeat = { ...last, fresh: true, pauseMs: 0 }
    else if (isRepeated) this.#repeat = { ...last, isRepeat: true, fresh: false, pauseMs: 0 }
    else if (isRenewable(last, error)) this.#repeat = { ...last, credentialRefused: true, isRepeat: true, pauseMs: 0 }
    else {
      this.#repeat = this.#inAnotherWay(last, error) ?? this.#byStandIn(last, error)
      if (this.#repeat === undefined) this.#applyPolicy(policyFor(error), last)
    }
  }

  /** The breaker of the last planned target opened while the call waited for a place. */
  skipOpenTarget(): void {
    this.#uncount(this.#last!)
    this.#skipOpen(this.#last!.candidate)
  }

  /** The limits of the last planned target's namespace have no room for the call. If it has waited for them, there is no attempt left. */
  skipLimitedTarget(limited: LimitReached): void {
    const last = this.#last!
    if (last.limited !== undefined) this.#over = true
    this.#uncount(last)
    this.#limited = [...this.#limited, { ...last, limited }]
  }

  /** No further attempt. The error of an earlier attempt takes precedence over this one, and a reached limit over a timeout. */
  end(error: GatewayError): void {
    this.#over = true
    const isLimited = this.#limited.length > 0 || this.#last?.limited !== undefined
    if (error.row !== 'upstream_timeout' || !isLimited) this.#error ??= error
  }

  #uncount({ isRepeat }: PlannedAttempt): void {
    if (!isRepeat) this.#attempts--
  }

  #applyPolicy({ cause, again, cooldownMs, ofCredential }: FailurePolicy, last: PlannedAttempt): void {
    if (ofCredential) this.#repeat = this.#withAnotherCredential(last)
    if (this.#repeat !== undefined) return
    if (cooldownMs !== undefined && this.#at > this.#ready) this.#inVain = last.candidate
    // The upstream may already have served the call: it is retried once only.
    const isAmbiguous = again === 'immediately'
    if (cause === undefined || !this.#route.retry.on.has(cause) || (isAmbiguous && this.#ambiguous)) this.#over = true
    this.#ambiguous ||= isAmbiguous
    if (again !== undefined && last.candidate !== this.#inVain)
      this.#again.push({ candidate: last.candidate, cooldownMs: cooldownMs ?? 0 })
  }

  /** The same attempt, if its provider has learned from the refusal of a chat completion to make it in another way. */
  #inAnotherWay(last: PlannedAttempt, { cause }: GatewayError): PlannedAttempt | undefined {
    const { candidate, credential, call, operation } = last
    const { provider } = credential ?? candidate.target
    if (operation !== provider || provider.chatBy === undefined || !(cause instanceof UpstreamError)) return undefined
    if (provider.chatBy(call, candidate.target.served.model, cause.refusal) === undefined) return undefined
    const serving = this.#fit(candidate, credential)
    return serving && { ...last, ...serving, isRepeat: true, fresh: false, pauseMs: 0 }
  }

  /** The same attempt without the upstream, if that has not the endpoint for this model, in this region or for this credential. */
  #byStandIn(last: PlannedAttempt, { row }: GatewayError): PlannedAttempt | undefined {
    const { standIn } = this.#context
    if (standIn === undefined || last.operation === standIn || row !== 'unsupported_endpoint') return undefined
    return { ...last, operation: standIn, credential: undefined, isRepeat: true, fresh: false, pauseMs: 0 }
  }

  /** The same attempt with a credential that is ready and that the call has not tried. */
  #withAnotherCredential(last: PlannedAttempt): PlannedAttempt | undefined {
    if (keepingCredential(last.candidate, this.#call, this.#context) !== undefined) return undefined
    const credential = last.candidate.target.upstream.credentials?.another(
      performance.now(),
      this.#tried,
      this.#selection.account,
    )
    const serving = credential && this.#fit(last.candidate, credential)
    if (serving === undefined) return undefined
    this.#tried = [...this.#tried, credential!]
    return { ...last, ...serving, credential, credentialRefused: false, isRepeat: true, fresh: false, pauseMs: 0 }
  }

  #nextCandidate(now: number, until: number): PlannedAttempt | undefined {
    while (this.#mayAttempt && this.#at < this.#candidates.length && this.#inVain === undefined) {
      const planned = this.#plan(this.#candidates[this.#at++]!, now)
      if (planned !== undefined) return planned
    }
    while (this.#mayAttempt && this.#again.length > 0) {
      const { candidate, cooldownMs } = this.#again.shift()!
      const pauseMs = backOff(this.#pauses, cooldownMs, this.#selection.random)
      const planned = now + pauseMs < until ? this.#plan(candidate, now, pauseMs) : undefined
      if (planned === undefined) continue
      this.#pauses++
      return planned
    }
    return this.#nextLimited(now, until)
  }

  /** Of the targets whose limits soon have room again, the first. */
  #nextLimited(now: number, until: number): PlannedAttempt | undefined {
    if (this.#over || this.#limited.length === 0) return undefined
    const next = this.#limited
      .filter(({ limited: { waitMs, retryAfterMs } }) => waitMs > 0 && now + retryAfterMs < until)
      .filter(({ isRepeat }) => isRepeat || this.#mayAttempt)
      .reduce<LimitedAttempt | undefined>((first, each) => (first && isSooner(first, each) ? first : each), undefined)
    if (next === undefined) return undefined
    this.#limited = this.#limited.filter((each) => each !== next)
    if (!next.isRepeat) this.#attempts++
    return { ...next, pauseMs: 0, hold: this.#attempts < this.#route.retry.attempts }
  }

  get #mayAttempt(): boolean {
    return !this.#over && this.#attempts < this.#route.retry.attempts
  }

  /** Undefined if the candidate is skipped. */
  #plan(candidate: Candidate, now: number, pauseMs = 0): PlannedAttempt | undefined {
    const { upstream, health } = candidate.target
    const { account } = this.#selection
    const { maxBody: limit = Number.POSITIVE_INFINITY } = candidate.target.provider
    if (this.#call.size > limit) return this.#skipUnfit(candidate, new GatewayError('request_too_large', { values: { limit } }))
    const keeping = keepingCredential(candidate, this.#call, this.#context)
    const waitMs = keeping === undefined ? 0 : upstream.credentials!.cooldownOf(keeping, now + pauseMs, account)
    if (waitMs > 0) return this.#skipUnfit(candidate, coolingDown(waitMs))
    const next = keeping ?? upstream.credentials?.next(now, account)
    const serving = this.#fit(candidate, next)
    if (serving === undefined) return undefined
    if (health.availability(now, account) === 'open') return this.#skipOpen(candidate)
    if (!this.#affords(upstream, now)) return this.#skip(candidate, 'upstream_busy')
    this.#attempts++
    const credential = serving.operation === this.#context.standIn ? undefined : next
    if (credential !== undefined) this.#tried = [...this.#tried, credential]
    const hold = this.#attempts < this.#route.retry.attempts || credential !== undefined
    return { ...serving, ...FIRST, candidate, credential, pauseMs, hold }
  }

  /** How the candidate serves the call, with all parameters that it drops; undefined if it cannot serve it, and is skipped. */
  #fit(candidate: Candidate, credential: Credential | undefined): Serving | undefined {
    try {
      const serving = servingOf(candidate, this.#call, this.#context, credential)
      if (serving === undefined) return this.#skipUnfit(candidate, notServed(this.#call))
      const dropped = droppedBy(serving, candidate)
      if (candidate.strict && dropped[0] !== undefined) throw new GatewayError('unsupported_parameter', { param: dropped[0] })
      return { ...serving, dropped }
    } catch (error) {
      if (!(error instanceof GatewayError) || !UNFIT.has(error.row)) throw error
      return this.#skipUnfit(candidate, error)
    }
  }

  /** How a candidate that was skipped would serve the call. */
  #servingIfAny(candidate: Candidate | undefined): Serving | undefined {
    try {
      return candidate && servingOf(candidate, this.#call, this.#context)
    } catch (error) {
      if (error instanceof GatewayError) return undefined
      throw error
    }
  }

  #skipUnfit(candidate: Candidate, error: GatewayError): undefined {
    if (this.#unfit === undefined || error.row === 'previous_response_unavailable') this.#unfit = { candidate, error }
    this.#skip(candidate, error.row)
  }

  #skipOpen(candidate: Candidate): undefined {
    this.#readyAt = Math.min(this.#readyAt, candidate.target.health.probeAt)
    this.#skip(candidate, 'upstream_circuit_open')
  }

  #skip({ target }: Candidate, why: ErrorName): undefined {
    this.#skipped = [...this.#skipped, { target, why }]
  }

  /** A second attempt at the same upstream takes from its retry budget. */
  #affords(upstream: UpstreamState, now: number): boolean {
    if (this.#asked.includes(upstream)) return upstream.budget.spend(now)
    this.#asked.push(upstream)
    upstream.budget.earn()
    return true
  }
}

/** Whether the upstream refused a credential that the provider can replace and has not replaced yet. */
export const isRenewable = ({ candidate, credentialRefused }: PlannedAttempt, { row }: GatewayError): boolean =>
  row === 'upstream_authentication_error' && candidate.target.provider.refreshes === true && !credentialRefused

type LimitedAttempt = PlannedAttempt & { readonly limited: LimitReached }

const limitedTarget = ({ candidate: { target } }: LimitedAttempt) => ({ target, why: 'namespace_limit_reached' as const })

/** Of two equal ones, the first in the order of the route is sooner. */
const isSooner = (first: LimitedAttempt, second: LimitedAttempt): boolean =>
  first.limited.retryAfterMs <= second.limited.retryAfterMs

/** Errors of a candidate that cannot serve the call; another one may. */
const UNFIT: ReadonlySet<ErrorName> = new Set<ErrorName>([
  'unsupported_parameter',
  'previous_response_not_found',
  'item_not_found',
])

const FIRST = { fresh: false, credentialRefused: false, isRepeat: false, limited: undefined } as const
const NO_TERMS: CallTerms = { hostedTools: [] }
const NONE_TRIED: readonly Credential[] = []
const NONE_LIMITED: readonly LimitedAttempt[] = []
const NONE_SKIPPED: readonly SkippedTarget[] = []

function userOf(call: Call): string | undefined {
  const user = call.member('user')
  return typeof user === 'string' ? user : undefined
}

const notServed = ({ model }: Call): GatewayError =>
  new GatewayError('unsupported_endpoint', { param: 'model', values: { model: model.id } })
