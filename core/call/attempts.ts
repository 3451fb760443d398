import type { DispatchedCall, RunningAttempt } from '../dispatch/dispatch.ts'
import { type Plan, traceOf } from '../dispatch/plan.ts'
import { asGatewayError, type GatewayError } from '../errors.ts'
import { PriceUnknown } from '../limits/budgets.ts'
import type { ChargedTokens } from '../protocol/usage-report.ts'
import type { Candidate, Route } from '../routing/route.ts'
import type { AttemptRecord, Call, RouteTrace, Served } from '../sdk/api.ts'
import type { CallTrace } from '../telemetry/call-trace.ts'
import type { CallCharge } from './charge.ts'
import type { Exchange } from './exchange.ts'

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
  readonly #exchange: Exchange
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

  constructor(exchange: Exchange, { charge, trace, hasForeignBetas }: AttemptsOptions) {
    this.#exchange = exchange
    this.charge = charge
    this.trace = trace
    this.#hasForeignBetas = hasForeignBetas
  }

  get signal(): AbortSignal {
    return this.#exchange.signal
  }

  end(reason: GatewayError): void {
    this.#exchange.end(reason)
  }

  begins(): void {
    this.trace?.begins(this.#exchange.upstreamHeaders)
    this.#exchange.times.waits()
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
      await this.#exchange.links?.retries(usage)
      return undefined
    } catch (error) {
      return asGatewayError(error)
    }
  }

  attempted(record: AttemptRecord, tokens: ChargedTokens | undefined, call: Call): void {
    const { times, stream } = this.#exchange
    this.running = undefined
    this.ended.push(record)
    times.waited()
    this.trace?.ended(tokens !== undefined)
    this.charge.count(record, tokens, call)
    // Before the client has the end of its stream.
    if (stream !== undefined && record.result === 'ok') this.charge.flush()
  }

  servedBy(by: Served, left: readonly string[], cap: number | undefined): void {
    const { times, stream, upstreamHeaders } = this.#exchange
    const dropped = this.#hasForeignBetas && !Object.hasOwn(upstreamHeaders, BETA_HEADER) ? [...left, BETA_HEADER] : left
    this.served = { by, dropped, cap, ms: times.waited() }
    if (stream !== undefined) times.streams()
  }

  /** The ended attempts, and the one that is streaming. */
  get soFar(): readonly AttemptRecord[] {
    const { ended, served, running } = this
    if (served === undefined || running === undefined) return [...ended]
    return [...ended, { ...served.by, result: 'ok', start: running.start, ms: served.ms }]
  }

  /** Notes in the journal what the attempt under way would be charged if this process were killed at `now`. */
  note(now: number): void {
    if (this.running !== undefined) this.charge.note(this.running, now)
  }

  /** How the call was routed; of a call that was refused before its first target was chosen, its route. */
  get routeTrace(): RouteTrace | undefined {
    if (this.plan !== undefined) return traceOf(this.plan)
    if (this.route === undefined) return undefined
    const { failure } = this.#exchange
    const unpriced = failure instanceof PriceUnknown ? failure.targets : []
    const skipped = unpriced.map((target) => ({ target, why: 'price_unknown' as const }))
    return { route: this.route.id, skipped, parameters: {} }
  }
}
