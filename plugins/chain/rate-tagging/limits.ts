import {
  answerEstimate,
  type Call,
  type CallState,
  countPrompt,
  type Host,
  type HostCounter,
  inputEstimate,
  isWorthCounting,
  type Outcome,
  type Principal,
  type Reservation,
} from 'unified-model-gateway/plugin'
import { type RateClass, type ScopedLimits, scopesOf } from './classes.ts'
import { refusal } from './replies.ts'

/** A call that takes from its limits. */
export interface Applicant {
  readonly state: CallState
  readonly principal: Principal
  readonly rateClass: RateClass
  /** Length of its body in bytes, as its head says; undefined if it does not. */
  readonly length: number | undefined
  /** Called when the body has been read; absent: only a limit on tokens needs the body. */
  readonly onBody: (() => void) | undefined
}

/** A body up to this size (bytes) is read before anything is reserved: it takes little memory, and a second reservation costs more. */
const SMALL_BODY = 64 * 1024

/**
 * Takes from the limits of a call's key and account: a request and a place before a body is read that is not small, so that the bodies of refused
 * calls take no memory, and tokens after it: for one attempt, and more before another one if those that failed have used some. What was not used is
 * given back when the call has ended. Throws the 429 of a call that a limit has no room for, and what reading the body throws.
 */
export async function admit(applicant: Applicant, host: Host, limited: HostCounter): Promise<Reservation> {
  const { rateClass, length, onBody } = applicant
  const scopes = scopesOf(rateClass, applicant.principal)
  const charge = new CallCharge(applicant, host, limited)
  const { tokens } = rateClass
  if (tokens === undefined && onBody === undefined) return charge.take(scopes, 0)
  if (length === undefined || length > SMALL_BODY) await charge.take(scopes.map(withoutTokens), 0)
  const call = await charge.readBody()
  onBody?.()
  if (tokens === undefined) return charge.take(scopes, 0)
  const answer = answerEstimate(call, tokens.answer)
  const estimate = inputEstimate(call, tokens.input) + answer
  const reservation = await charge.reserve(scopes, estimate)
  if (!mayCountAdmit(reservation, call, answer)) return charge.granted(reservation, estimate)
  return charge.take(scopes, inputEstimate(call, tokens.input, await countPrompt(call, host)) + answer)
}

const onlyTokens = (scope: ScopedLimits): ScopedLimits => ({
  ...scope,
  limits: { ...scope.limits, requests: undefined, concurrent: undefined },
})

const withoutTokens = (scope: ScopedLimits): ScopedLimits => ({ ...scope, limits: { ...scope.limits, tokens: undefined } })

/** What a call holds of the limits of its key and account, until it has ended. */
class CallCharge {
  readonly #applicant: Applicant
  readonly #host: Host
  readonly #limited: HostCounter
  #call: Call | undefined
  #scopes: readonly ScopedLimits[] = []
  #held: Reservation | undefined
  /** What is reserved of tokens for one attempt, and for all until now. */
  #tokens = { forOne: 0, inAll: 0 }
  /** For further attempts. */
  #more: readonly Reservation[] = []
  #outcome: Outcome | undefined

  constructor(applicant: Applicant, host: Host, limited: HostCounter) {
    this.#applicant = applicant
    this.#host = host
    this.#limited = limited
    if (applicant.rateClass.tokens !== undefined) applicant.state.onRetry(({ total_tokens }) => this.#reserveMore(total_tokens))
    // Before anything is granted, so that a call which ends meanwhile gives back what it is about to get.
    applicant.state.onSettled((outcome) => {
      this.#outcome = outcome
      return this.#held && this.#settle(this.#held, outcome)
    })
  }

  /** Reserves instead of what is held. */
  async reserve(scopes: readonly ScopedLimits[], tokens: number): Promise<Reservation> {
    await this.#held?.cancel()
    this.#scopes = scopes
    this.#tokens = { forOne: tokens, inAll: tokens }
    this.#held = await this.#host.limits.reserve(scopes, tokens)
    if (this.#outcome !== undefined) await this.#settle(this.#held, this.#outcome)
    return this.#held
  }

  /** The reservation, if it was granted; else throws its 429. */
  granted(reservation: Reservation, tokens: number): Reservation {
    const { rateClass, state } = this.#applicant
    const { refusedBy } = reservation
    if (refusedBy === undefined) return reservation
    const limit = this.#scopes.find(({ subject }) => subject === reservation.refusedFor)!
    this.#limited.add(1, rateClass.name, limit.scope, refusedBy)
    throw refusal({ rateClass, limit, reservation, refusedBy, tokens, model: state.model?.id })
  }

  /** Reserves instead of what is held, or throws the 429. */
  async take(scopes: readonly ScopedLimits[], tokens: number): Promise<Reservation> {
    return this.granted(await this.reserve(scopes, tokens), tokens)
  }

  /** Reads the call's body. If that fails, there is no call to charge. */
  async readBody(): Promise<Call> {
    try {
      this.#call = await this.#applicant.state.call()
      return this.#call
    } catch (error) {
      await this.#held?.cancel()
      throw error
    }
  }

  /** Reserves what another attempt may use, after failed ones. `used`: their tokens. Throws the 429 if there is no room for it. */
  async #reserveMore(used: number): Promise<void> {
    const { forOne, inAll } = this.#tokens
    const missing = used + forOne - inAll
    if (missing <= 0) return
    const more = await this.#host.limits.reserve(this.#scopes.map(onlyTokens), missing)
    this.granted(more, missing)
    this.#tokens = { forOne, inAll: inAll + missing }
    this.#more = [...this.#more, more]
    // The call has ended meanwhile, without another attempt.
    if (this.#outcome !== undefined) await more.cancel()
  }

  /** Synchronous if the upstream reported the usage: every call is settled. */
  #settle(reservation: Reservation, outcome: Outcome): void | Promise<void> {
    const { tokens } = this.#applicant.rateClass
    for (const each of this.#more) void each.cancel()
    const used = tokens === undefined || this.#call === undefined ? 0 : charged(outcome, this.#call, this.#host)
    return typeof used === 'number' ? reservation.settle(used) : used.then((tokens) => reservation.settle(tokens))
  }
}

/** A prompt is counted only if its size alone would refuse the call, and a count could admit it: counting costs more than the estimate. */
const mayCountAdmit = ({ refusedBy, tokens }: Reservation, call: Call, answer: number): boolean =>
  refusedBy === 'tokens' && isWorthCounting(call) && answer < (tokens?.remaining ?? 0)

/** Tokens to charge: those that the upstream reported, or an estimate if it accepted the call and reported none. */
function charged({ usage, usageEstimated, attempts }: Outcome, call: Call, host: Host): number | Promise<number> {
  if (usage === undefined) return 0
  // Several attempts have read the prompt several times.
  return usageEstimated && attempts.length <= 1
    ? countPrompt(call, host).then((prompt) => prompt + usage.completion_tokens)
    : usage.total_tokens
}
