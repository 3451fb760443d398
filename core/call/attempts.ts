import type { DispatchedCall, RunningAttempt } from '../dispatch/dispatch.ts'
import { type Plan, traceOf } from '../dispatch/plan.ts'
import { asGatewayError, type GatewayError } from '../errors.ts'
import { type BudgetReservation, PriceUnknown } from '../limits/budgets.ts'
import { sumOfCosts } from '../limits/prices/price.ts'
import type { PriceList } from '../limits/prices/price-list.ts'
import { sumOfUsage, usageOf } from '../protocol/usage.ts'
import type { ChargedTokens } from '../protocol/usage-report.ts'
import type { Candidate, Route } from '../routing/route.ts'
import type { AttemptRecord, Call, Cost, Outcome, Principal, RouteTrace, Served, Usage } from '../sdk/api.ts'
import type { CallTrace } from '../telemetry/call-trace.ts'
import type { CallJournal } from '../usage/call-journal.ts'
import type { ServedCall } from '../usage/served-call.ts'

/** The times of one call, in milliseconds since its request arrived. */
export class CallTimes {
  /** When the request arrived, in monotonic milliseconds. */
  readonly startedAt = performance.now()
  /** Milliseconds spent waiting for upstreams, without the current wait. */
  #waitedMs = 0
  #waitingSince: number | undefined
  /** Overhead at the head of a stream: later time is the upstream's and the client's. */
  #overheadAtHead: number | undefined

  /** The call waits for an upstream. */
  beginWait(): void {
    // An attempt that was planned may have waited in vain, for a limit or for a place.
    this.endWait()
    this.#waitingSince = performance.now()
  }

  /** The wait is over. Returns how long it was; 0 if the call waited for no upstream. */
  endWait(): number {
    const ms = this.#wait
    this.#waitedMs += ms
    this.#waitingSince = undefined
    return ms
  }

  /** The head of a stream is due. */
  headDue(): void {
    this.#overheadAtHead = this.elapsed().overhead
  }

  /** The time until now, and the gateway's own part of it until the reply's head. */
  elapsed(): { readonly total: number; readonly overhead: number } {
    const total = performance.now() - this.startedAt
    const overhead = this.#overheadAtHead ?? Math.max(total - this.#waitedMs - this.#wait, 0)
    return { total, overhead }
  }

  get #wait(): number {
    return this.#waitingSince === undefined ? 0 : performance.now() - this.#waitingSince
  }
}

/** The attempt that serves a call. */
interface ServedReply {
  readonly by: Served
  /** Parameters that the provider left out, by the client's names. */
  readonly dropped: readonly string[]
  /** The tokens to which a budget has capped the answer. */
  readonly cap: number | undefined
  /** Milliseconds that the call waited for the reply, or for the commit of its stream. */
  readonly ms: number
}

/** The call of the attempts. */
export interface AttemptedCall extends ServedCall {
  readonly principal: Principal | undefined
  readonly signal: AbortSignal
  end(reason: GatewayError): void
  readonly times: CallTimes
  readonly upstreamHeaders: Record<string, string>
  readonly failure: GatewayError | undefined
  /** The limits that links keep pay for an attempt after those that have used tokens, or it rejects with their refusal. */
  readonly links: { beforeRetry(used: Usage): Promise<void> } | undefined
}

/** The options of a call's attempts. */
export interface AttemptsOptions {
  readonly charge: CallCharge
  /** Absent: the call is not traced. */
  readonly trace: CallTrace | undefined
  /** The client asks for betas of Anthropic's by another protocol: they reach no upstream, unless a link sends them. */
  readonly hasForeignBetas: boolean
}

/** The header that asks for betas of Anthropic's. */
export const BETA_HEADER = 'anthropic-beta'

/** The attempts of one call, as `dispatch` reports them. */
export class CallAttempts implements DispatchedCall {
  readonly #call: AttemptedCall
  readonly #hasForeignBetas: boolean
  readonly charge: CallCharge
  readonly trace: CallTrace | undefined
  /** Those that have ended. */
  readonly ended: AttemptRecord[] = []
  /** The route of the call's model; undefined before it is found. */
  route: Route | undefined
  plan: Plan | undefined
  /** The attempt under way. */
  running: RunningAttempt | undefined
  served: ServedReply | undefined

  constructor(call: AttemptedCall, { charge, trace, hasForeignBetas }: AttemptsOptions) {
    this.#call = call
    this.charge = charge
    this.trace = trace
    this.#hasForeignBetas = hasForeignBetas
  }

  get signal(): AbortSignal {
    return this.#call.signal
  }

  end(reason: GatewayError): void {
    this.#call.end(reason)
  }

  beginAttempt(): void {
    this.trace?.beginAttempt(this.#call.upstreamHeaders)
    this.#call.times.beginWait()
  }

  mayAttempt(candidate: Candidate): Promise<GatewayError | undefined> | undefined {
    // Attempts that have used nothing are not paid for.
    return this.charge.total === undefined ? undefined : this.#payFor(candidate)
  }

  /** Resolves to the refusal if what is left of a limit does not pay for an attempt after those that have used tokens. */
  async #payFor(candidate: Candidate): Promise<GatewayError | undefined> {
    const { usage } = this.charge.total!
    try {
      await this.charge.extend(candidate)
      await this.#call.links?.beforeRetry(usage)
      return undefined
    } catch (error) {
      return asGatewayError(error)
    }
  }

  attempted(record: AttemptRecord, tokens: ChargedTokens | undefined, call: Call): void {
    const { times, stream } = this.#call
    this.ended.push(record)
    times.endWait()
    this.trace?.endAttempt(tokens !== undefined)
    this.charge.count(record, tokens, call)
    // Before the client has the end of its stream.
    if (stream !== undefined && record.result === 'ok') this.charge.flush()
  }

  servedBy(by: Served, dropped: readonly string[], cap: number | undefined): void {
    const { times, stream, upstreamHeaders } = this.#call
    const areBetasDropped = this.#hasForeignBetas && !Object.hasOwn(upstreamHeaders, BETA_HEADER)
    this.served = { by, dropped: areBetasDropped ? [...dropped, BETA_HEADER] : dropped, cap, ms: times.endWait() }
    if (stream !== undefined) times.headDue()
  }

  /** The ended attempts, and the one that is streaming. */
  get soFar(): readonly AttemptRecord[] {
    const { ended, served, running } = this
    if (served === undefined || running === undefined) return [...ended]
    return [...ended, { ...served.by, result: 'ok', start: running.start, ms: served.ms }]
  }

  /** The call is settled: its plan, and what was reserved for it, are not kept with the connection. */
  release(): void {
    this.plan = undefined
    this.charge.release()
  }

  /** Notes in the journal what the attempt under way would be charged if this process were killed at `now`. */
  note(now: number): void {
    if (this.running !== undefined) this.charge.note(this.running, now)
  }

  /** How the call was routed; of a call that was refused before its first target was chosen, its route. */
  get routeTrace(): RouteTrace | undefined {
    if (this.plan !== undefined) return traceOf(this.plan)
    if (this.route === undefined) return undefined
    const { failure } = this.#call
    const unpriced = failure instanceof PriceUnknown ? failure.targets : []
    const skipped = unpriced.map((target) => ({ target, why: 'price_unknown' as const }))
    return { route: this.route.id, affinity: {}, skipped, parameters: {} }
  }
}

/** What an attempt has used, and what it costs; undefined if that is not known. */
export type AttemptCharge = ChargedTokens & { readonly cost: Cost | undefined }

/** An upstream bills what it has generated, also if its attempt failed and another one served the call. */
const sumOfCharges = (first: AttemptCharge, second: AttemptCharge): AttemptCharge => ({
  usage: sumOfUsage(first.usage, second.usage),
  estimated: first.estimated || second.estimated,
  isPromptEstimated: first.isPromptEstimated || second.isPromptEstimated,
  isUnfinished: first.isUnfinished || second.isUnfinished,
  cost: sumOfCosts(first.cost, second.cost),
})

/** An attempt that has ended, or is cut off: its tokens, and the call as its upstream got it. */
interface ChargedAttempt {
  readonly record: AttemptRecord
  readonly tokens: ChargedTokens
  readonly call: Call
}

/** The services that charge calls. */
export interface ChargeServices {
  readonly prices: Pick<PriceList, 'costOf' | 'chargeOf'>
  /** Where calls are noted as soon as their cost is known. */
  readonly journal: CallJournal | undefined
}

/** How much of a stream has no line in the journal if its process is killed, in milliseconds. */
const NOTE_AGAIN_MS = 1000

/** What one call costs its caller: reserved of its budgets, counted attempt by attempt, settled at its end. */
export class CallCharge {
  readonly #call: AttemptedCall
  readonly #services: ChargeServices
  #budget: BudgetReservation | undefined
  #total: AttemptCharge | undefined
  /** When the journal has last noted the attempt under way, in monotonic milliseconds; undefined if it never has. */
  #notedAt: number | undefined

  constructor(call: AttemptedCall, services: ChargeServices) {
    this.#call = call
    this.#services = services
  }

  /** The tokens of all attempts that used some, and what they cost. */
  get total(): AttemptCharge | undefined {
    return this.#total
  }

  /** The call pays by what was reserved of the budgets of its caller. */
  payBy(budget: BudgetReservation | undefined): void {
    this.#budget = budget
  }

  /** Reserves for one more attempt, unless what is reserved pays for it too. Rejects with the refusal of a budget. */
  async extend(candidate: Candidate): Promise<void> {
    await this.#budget?.extend(candidate, this.#total?.cost)
  }

  /** Counts an attempt that has ended. `tokens`: undefined if it is not charged. */
  count(record: AttemptRecord, tokens: ChargedTokens | undefined, call: Call): void {
    if (tokens !== undefined) this.#total = this.#with({ record, tokens, call })
    // Also to replace the estimate of an attempt that in the end used none.
    if (tokens !== undefined || this.#notedAt !== undefined) this.#services.journal?.note(this.#call, record, this.#total)
  }

  /** Notes what an attempt under way would be charged if this process were killed at `now`: again after a second. */
  note(running: Pick<RunningAttempt, 'cutOff'>, now: number): void {
    if (this.#notedAt !== undefined && now - this.#notedAt < NOTE_AGAIN_MS) return
    const attempt = running.cutOff(now)
    if (attempt === undefined) return
    this.#notedAt = now
    this.#services.journal?.note(this.#call, attempt.record, this.#with(attempt))
  }

  /** What was noted is in the journal: before the client has the end of its stream. */
  flush(): void {
    this.#services.journal?.flush()
  }

  /** Replaces what was reserved by what the call has cost. */
  settle(outcome: Partial<Pick<Outcome, 'usage' | 'cost'>>): void {
    // What an upstream will have made in the end is not known: all that was reserved stays.
    if (this.#total?.isUnfinished) this.#budget?.keep()
    else this.#budget?.settle(outcome)
  }

  /** Nothing more is charged. */
  release(): void {
    this.#budget = undefined
  }

  /** The charge of the call so far, with that of an attempt. */
  #with(attempt: ChargedAttempt): AttemptCharge {
    const { record, tokens, call } = attempt
    const usage = this.#usageOf(attempt)
    const charge = { ...tokens, usage, cost: this.#costOf(record, usage, call, tokens.served) }
    return this.#total === undefined ? charge : sumOfCharges(this.#total, charge)
  }

  /**
   * Of an answer that broke off or was left, the upstream has read the whole prompt, and says nothing of it: a budget pays for the media in
   * it as reserved, and so for pictures and sound of which the upstream does not say what they have used. Upstreams that report no usage in a
   * complete text are estimated as ever.
   */
  #usageOf({ record, tokens: { usage, isPromptEstimated, unreported } }: ChargedAttempt): Usage {
    const isPromptReserved = isPromptEstimated && record.result !== 'ok'
    if (!isPromptReserved && unreported === undefined) return usage
    const reserved = this.#budget?.reservedFor(record)
    if (reserved === undefined) return usage
    const prompt = isPromptReserved ? Math.max(reserved.prompt, usage.prompt_tokens) : usage.prompt_tokens
    const isMadeReserved = unreported !== undefined && reserved.made > usage.completion_tokens
    const answer = isMadeReserved ? reserved.made : usage.completion_tokens
    return { ...usage, ...usageOf(prompt, answer, isMadeReserved ? unreported : undefined) }
  }

  #costOf(served: Served, usage: Usage, call: Call, variants: ChargedTokens['served']): Cost | undefined {
    const { prices } = this.#services
    return this.#call.principal?.budgets === undefined
      ? prices.costOf(served, usage, call, variants)
      : prices.chargeOf(served, usage, call, variants)
  }
}
