import { unlessAborted } from '../async/abort.ts'
import type { LimitsConfig } from '../config/config.ts'
import { GatewayError } from '../errors.ts'
import {
  answerEstimate,
  type Call,
  type InputBounds,
  inputEstimate,
  isWorthCounting,
  type Limits,
  type Reservation,
  uncappedAnswer,
  usualInput,
} from '../sdk/api.ts'
import { LimitQueue } from './limit-queue.ts'
import { type LimitAnswer, type LimitNeed, type LimitReached, LimitShare } from './limit-share.ts'

/** What limits of namespaces are kept with. */
export interface LimitServices {
  /** The counters that all processes share. */
  readonly limits: Limits
  countTokens(call: Call): Promise<number>
  /** A limit of a namespace had no room for an attempt. */
  onLimited(namespace: string, limit: LimitReached['refusedBy']): void
}

/** The limits of one namespace, which all callers, processes and gateways share. */
export class NamespaceLimits {
  readonly #namespace: string
  readonly #config: LimitsConfig
  readonly #services: LimitServices
  /** What is reserved of tokens; undefined: they have no limit. */
  readonly #tokens: { readonly input: InputBounds; readonly uncapped: number } | undefined
  readonly #queue: LimitQueue

  constructor(namespace: string, config: LimitsConfig, services: LimitServices) {
    this.#namespace = namespace
    this.#config = config
    this.#services = services
    const { tokens } = config
    this.#tokens = tokens && { input: usualInput(tokens), uncapped: uncappedAnswer(tokens) }
    this.#queue = new LimitQueue((need) => this.#take(need))
  }

  /**
   * Takes what an attempt needs, unless other calls wait for it. Synchronous as long as this process has a lease of the counters; else it
   * rejects with the reason of `signal` once that is aborted.
   */
  take(call: Call, signal: AbortSignal): LimitAnswer | Promise<LimitAnswer> {
    const need = this.#needOf(call)
    const { refusal } = this.#queue
    const answer = refusal === undefined ? this.#take(need) : { ...refusal, need }
    if (!(answer instanceof Promise)) return this.#noted(answer)
    const noted = answer.then((later) => this.#noted(later))
    return unlessAborted(noted, signal, (late) => late instanceof LimitShare && late.cancel())
  }

  /**
   * Waits, in order of arrival, until there is room for an attempt, for at most `ms`. `reached`: why it was refused. Rejects with the reason of
   * `signal` once that is aborted.
   */
  wait(reached: LimitReached, ms: number, signal: AbortSignal): Promise<LimitAnswer> {
    return this.#queue.join(reached, ms, signal)
  }

  #needOf(call: Call): LimitNeed {
    if (this.#tokens === undefined) return { call, promptTokens: 0, answerTokens: 0, isCounted: true }
    const { input, uncapped } = this.#tokens
    const promptTokens = inputEstimate(call, input)
    return { call, promptTokens, answerTokens: answerEstimate(call, uncapped), isCounted: !isWorthCounting(call) }
  }

  #take(need: LimitNeed): LimitAnswer | Promise<LimitAnswer> {
    const answer = this.#reserve(need)
    return answer instanceof Promise ? answer.then((later) => this.#recounted(need, later)) : this.#recounted(need, answer)
  }

  /** Tries again with the counted tokens if the estimate alone may have refused the call. */
  #recounted(need: LimitNeed, answer: LimitAnswer): LimitAnswer | Promise<LimitAnswer> {
    const isEstimate = !(answer instanceof LimitShare) && answer.refusedBy === 'tokens' && !need.isCounted
    if (!isEstimate || need.answerTokens >= this.#config.tokens!.amount) return answer
    return this.#services.countTokens(need.call).then(
      (tokens) => {
        need.promptTokens = inputEstimate(need.call, this.#tokens!.input, tokens)
        need.isCounted = true
        return this.#reserve(need)
      },
      () => answer,
    )
  }

  #reserve(need: LimitNeed): LimitAnswer | Promise<LimitAnswer> {
    const tokens = need.promptTokens + need.answerTokens
    if (tokens > (this.#config.tokens?.amount ?? tokens))
      return { need, refusedBy: 'tokens', retryAfterMs: 0, waitMs: 0, isTooLarge: true }
    const made = this.#services.limits.reserve([{ subject: `namespace/${this.#namespace}`, limits: this.#config }], tokens)
    return made instanceof Promise ? made.then((later) => this.#answer(later, need), failed) : this.#answer(made, need)
  }

  #answer(reservation: Reservation, need: LimitNeed): LimitAnswer {
    const { refusedBy, retryAfterMs } = reservation
    if (refusedBy === undefined) return new LimitShare(reservation, need, () => this.#queue.serve())
    const { wait } = this.#config
    return { need, refusedBy, retryAfterMs, waitMs: retryAfterMs > wait ? 0 : wait, isTooLarge: false }
  }

  #noted(answer: LimitAnswer): LimitAnswer {
    if (!(answer instanceof LimitShare)) this.#services.onLimited(this.#namespace, answer.refusedBy)
    return answer
  }
}

function failed(cause: unknown): never {
  throw new GatewayError('internal_error', { cause })
}
