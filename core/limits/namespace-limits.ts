import { TimedSignal, unlessAborted } from '../async/abort.ts'
import { Semaphore } from '../async/semaphore.ts'
import type { LimitsConfig } from '../config/config.ts'
import { GatewayError } from '../errors.ts'
import type { ChargedTokens } from '../protocol/usage-report.ts'
import { type Call, countPrompt, inputEstimate, type LimitScope, type Limits, type Reservation } from '../sdk/api.ts'
import { andThen, type Counting, mayFitCounted, reserve, type TokenTerms, tokensOf, tokenTerms } from './reserve.ts'

/** What limits of namespaces are kept with. */
export interface LimitServices {
  /** The counters that all processes share. */
  readonly limits: Pick<Limits, 'reserve'>
  readonly counting: Counting
  /** A limit of a namespace had no room for an attempt. */
  onLimited(namespace: string, limit: LimitReached['refusedBy']): void
}

/** Why an attempt cannot be made now. */
export interface LimitReached {
  /** The limit that has no room. */
  readonly refusedBy: NonNullable<Reservation['refusedBy']>
  /** Milliseconds; 0 if it is unknown when there is room again. */
  readonly retryAfterMs: number
  /** The longest wait, in milliseconds; 0: a wait would not help. */
  readonly waitMs: number
  /** The call needs more tokens than the whole limit. */
  readonly isTooLarge: boolean
  /** The tokens of its prompt, if they were counted. */
  readonly counted?: number | undefined
}

/** What an attempt has reserved of the limits of its namespace. What is not settled when it is disposed of is given back. */
export class LimitShare implements Disposable {
  readonly #reservation: Reservation
  readonly #prompt: number
  readonly #onReturned: () => void

  /** `prompt`: the tokens that are reserved for it. */
  constructor(reservation: Reservation, prompt: number, onReturned: () => void) {
    this.#reservation = reservation
    this.#prompt = prompt
    this.#onReturned = onReturned
  }

  /** The attempt has ended. `tokens`: undefined if no upstream accepted the call. A prompt that the upstream did not report was as reserved. */
  settle(tokens: ChargedTokens | undefined): void {
    const { usage, isPromptEstimated } = tokens ?? NOTHING
    void this.#reservation.settle(isPromptEstimated ? this.#prompt + usage.completion_tokens : usage.total_tokens)
  }

  [Symbol.dispose](): void {
    // This changes nothing if it is settled.
    void this.#reservation.cancel()
    this.#onReturned()
  }
}

const NOTHING = { usage: { completion_tokens: 0, total_tokens: 0 }, isPromptEstimated: false }

/** A share, or the limit that refused it. */
export type LimitAnswer = LimitShare | LimitReached

/** The most calls of a process that wait for the limits of one namespace. */
const MAX_WAITING = 1000
/** How often the first call tries again, in milliseconds: other processes give back what they do not use. */
const RETRY_MS = 125

/** The limits of one namespace, which all callers, processes and gateways share. */
export class NamespaceLimits {
  readonly #namespace: string
  readonly #config: LimitsConfig
  readonly #services: LimitServices
  readonly #scopes: readonly LimitScope[]
  /** Undefined: tokens have no limit. */
  readonly #terms: TokenTerms | undefined
  /** The turn to try again, of the calls that wait. */
  readonly #turn = new Semaphore(1)
  #waiting = 0
  /** Why the first of them waits. */
  #reached: LimitReached | undefined
  /** Lets it try again. */
  #retry: () => void = () => undefined
  readonly #onReturned = (): void => this.#retry()

  constructor(namespace: string, config: LimitsConfig, services: LimitServices) {
    this.#namespace = namespace
    this.#config = config
    this.#services = services
    this.#scopes = [{ subject: `namespace/${namespace}`, limits: config }]
    this.#terms = tokenTerms(this.#scopes)
  }

  /**
   * Takes what an attempt needs, unless other calls wait for it. Synchronous as long as this process has a lease of the counters; else it
   * rejects with the reason of `signal` once that is aborted.
   */
  take(call: Call, signal: AbortSignal): LimitAnswer | Promise<LimitAnswer> {
    const answer = this.#waiting > 0 ? { ...this.#reached!, counted: undefined } : this.#take(call, undefined)
    return answer instanceof Promise
      ? unlessAborted(answer, signal, giveBack).then((later) => this.#noted(later))
      : this.#noted(answer)
  }

  /**
   * Waits, in order of arrival, until there is room for an attempt, for at most `ms`. `reached`: why it was refused, which is the answer too if too
   * many calls wait. Rejects with the reason of `signal` once that is aborted.
   */
  async wait(call: Call, reached: LimitReached, ms: number, signal: AbortSignal): Promise<LimitAnswer> {
    if (this.#waiting >= MAX_WAITING) return reached
    using timed = new TimedSignal(ms, () => OVER, signal)
    let last = reached
    if (this.#waiting === 0) this.#reached = reached
    this.#waiting++
    try {
      await this.#turn.acquire(timed.signal)
      try {
        for (;;) {
          this.#reached = last
          const answer = this.#take(call, last.counted)
          const now = answer instanceof Promise ? await unlessAborted(answer, timed.signal, giveBack) : answer
          if (now instanceof LimitShare || now.waitMs === 0) return now
          last = now
          await this.#room(timed.signal)
        }
      } finally {
        this.#turn.release()
      }
    } catch (error) {
      if (error === OVER) return last
      throw error
    } finally {
      this.#waiting--
    }
  }

  /** Resolves when an attempt has given room back, or another process may have. Rejects with the reason of `signal` once that is aborted. */
  async #room(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, RETRY_MS)
    this.#retry = resolve
    await unlessAborted(promise, signal).finally(() => clearTimeout(timer))
  }

  /** `counted`: the tokens of the prompt, if they were counted before. */
  #take(call: Call, counted: number | undefined): LimitAnswer | Promise<LimitAnswer> {
    const terms = this.#terms
    if (terms === undefined || counted !== undefined) return this.#reserve(call, counted)
    return reserve<LimitAnswer>({
      take: (prompt) => this.#reserve(call, prompt),
      mayCountAdmit: (answer) =>
        !(answer instanceof LimitShare) &&
        answer.refusedBy === 'tokens' &&
        mayFitCounted(call, terms, this.#config.tokens!.amount),
      count: () => countPrompt(call, this.#services.counting),
    })
  }

  #reserve(call: Call, counted: number | undefined): LimitAnswer | Promise<LimitAnswer> {
    const { tokens: limit, wait } = this.#config
    const terms = this.#terms
    const tokens = terms === undefined ? 0 : tokensOf(call, terms, counted)
    if (limit !== undefined && tokens > limit.amount)
      return { counted, refusedBy: 'tokens', retryAfterMs: 0, waitMs: 0, isTooLarge: true }
    return andThen(this.#services.limits.reserve(this.#scopes, tokens), (reservation) => {
      const { refusedBy, retryAfterMs } = reservation
      if (refusedBy !== undefined)
        return { counted, refusedBy, retryAfterMs, waitMs: retryAfterMs > wait ? 0 : wait, isTooLarge: false }
      const prompt = terms === undefined ? 0 : inputEstimate(call, terms.input, counted)
      return new LimitShare(reservation, prompt, this.#onReturned)
    })
  }

  #noted(answer: LimitAnswer): LimitAnswer {
    if (!(answer instanceof LimitShare)) this.#services.onLimited(this.#namespace, answer.refusedBy)
    return answer
  }
}

/** Why a wait ends when its time is over. */
const OVER = Symbol('the time to wait is over')

/** Gives back what comes after its call has left. */
function giveBack(late: LimitAnswer): void {
  if (late instanceof LimitShare) late[Symbol.dispose]()
}

/** The end of a call under way is unknown. */
const UNKNOWN_MS = 1000

/** The error of a call that limits of namespaces have no room for. `all`: those of its targets; at least one. */
export function limitError(all: readonly LimitReached[]): GatewayError {
  const passing = all.filter(({ isTooLarge }) => !isTooLarge)
  if (passing.length === 0) {
    const detail = 'The call needs more tokens than the limit has: shorten the prompt, or ask for a shorter answer.'
    return new GatewayError('namespace_limit_reached', { values: { detail }, retry: false })
  }
  const ms = Math.min(...passing.map(({ retryAfterMs }) => retryAfterMs || UNKNOWN_MS))
  const headers = { 'retry-after': String(Math.ceil(ms / 1000)) }
  const detail = 'Retry after the time in the retry-after header.'
  return new GatewayError('namespace_limit_reached', { values: { detail }, headers })
}
