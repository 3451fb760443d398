import { type LimitAnswer, type LimitNeed, type LimitReached, LimitShare } from './limit-share.ts'

/** The most calls of a process that wait for the limits of one namespace. */
const MAX_WAITING = 1000
/** How often the first call tries again, in milliseconds: other processes give back what they do not use. */
const RETRY_MS = 125

interface Waiter {
  /** The last refusal. */
  reached: LimitReached
  readonly answer: PromiseWithResolvers<LimitAnswer>
}

/** Calls that wait for the limits of a namespace, in order of arrival. Only the first one tries. */
export class LimitQueue {
  readonly #take: (need: LimitNeed) => LimitAnswer | Promise<LimitAnswer>
  readonly #waiting = new Set<Waiter>()
  #retry: NodeJS.Timeout | undefined
  #isTaking = false

  /** `take` asks for a share. */
  constructor(take: (need: LimitNeed) => LimitAnswer | Promise<LimitAnswer>) {
    this.#take = take
  }

  /** Why the first call waits; undefined if none does. */
  get refusal(): LimitReached | undefined {
    const [first] = this.#waiting
    return first?.reached
  }

  /**
   * Waits for a share, for at most `ms`. `reached`: why the call was refused; it is the answer too if too many calls wait. Rejects with the
   * reason of `signal` once that is aborted.
   */
  async join(reached: LimitReached, ms: number, signal: AbortSignal): Promise<LimitAnswer> {
    if (this.#waiting.size >= MAX_WAITING) return reached
    const waiter: Waiter = { reached, answer: Promise.withResolvers() }
    const leave = (): void => {
      this.#remove(waiter)
      waiter.answer.reject(signal.reason)
    }
    const timer = setTimeout(() => {
      this.#remove(waiter)
      waiter.answer.resolve(waiter.reached)
    }, ms)
    signal.addEventListener('abort', leave, { once: true })
    this.#waiting.add(waiter)
    // The others are behind the first, which tries on its own.
    if (this.#waiting.size === 1) this.serve()
    try {
      return await waiter.answer.promise
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', leave)
    }
  }

  /** Serves as many calls as there is room for. */
  serve(): void {
    clearTimeout(this.#retry)
    while (!this.#isTaking) {
      const [first] = this.#waiting
      if (first === undefined) return
      const answer = this.#take(first.reached.need)
      if (answer instanceof Promise) this.#serveLater(first, answer)
      else if (!this.#answered(first, answer)) return
    }
  }

  #serveLater(first: Waiter, answer: Promise<LimitAnswer>): void {
    this.#isTaking = true
    answer.then(
      (later) => {
        this.#isTaking = false
        if (this.#answered(first, later)) this.serve()
      },
      (error: unknown) => {
        this.#isTaking = false
        this.#waiting.delete(first)
        first.answer.reject(error)
        this.serve()
      },
    )
  }

  /** Returns whether the next call may try. */
  #answered(first: Waiter, answer: LimitAnswer): boolean {
    const isShare = answer instanceof LimitShare
    if (isShare || answer.waitMs === 0) {
      // It may have left in the meantime.
      if (this.#waiting.delete(first)) first.answer.resolve(answer)
      else if (isShare) answer.cancel()
      return true
    }
    first.reached = answer
    if (!this.#waiting.has(first)) return true
    clearTimeout(this.#retry)
    this.#retry = setTimeout(() => this.serve(), RETRY_MS)
    return false
  }

  #remove(waiter: Waiter): void {
    if (!this.#waiting.delete(waiter)) return
    // The next call may need less.
    this.serve()
  }
}
