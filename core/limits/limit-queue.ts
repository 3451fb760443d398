import type { Pause } from '../async/pause.ts'
import type { GatewayError } from '../errors.ts'
import { type LimitAnswer, type LimitNeed, type LimitReached, LimitShare } from './limit-share.ts'

/** The most calls of a process that wait for the limits of one namespace. */
const MAX_WAITING = 1000
/** How often the first call tries again, in milliseconds: other processes give back what they do not use. */
const RETRY_MS = 125

interface Waiter {
  /** The last refusal. */
  reached: LimitReached
  answer(answer: LimitAnswer): void
  fail(error: GatewayError): void
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

  /** Waits for a share, for at most `ms`. `reached`: why the call was refused. Too many calls wait: the same. */
  join(reached: LimitReached, ms: number): LimitReached | Pause<LimitAnswer> {
    if (this.#waiting.size >= MAX_WAITING) return reached
    const { promise: over, resolve, reject } = Promise.withResolvers<LimitAnswer>()
    const waiter: Waiter = {
      reached,
      answer: (answer) => {
        clearTimeout(timer)
        resolve(answer)
      },
      fail: (error) => {
        clearTimeout(timer)
        reject(error)
      },
    }
    const timer = setTimeout(() => {
      this.#remove(waiter)
      resolve(waiter.reached)
    }, ms)
    this.#waiting.add(waiter)
    // The others are behind the first, which tries on its own.
    if (this.#waiting.size === 1) this.serve()
    const end = (error: GatewayError): void => {
      this.#remove(waiter)
      waiter.fail(error)
    }
    return { over, end }
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
      (error: GatewayError) => {
        this.#isTaking = false
        this.#waiting.delete(first)
        first.fail(error)
        this.serve()
      },
    )
  }

  /** Returns whether the next call may try. */
  #answered(first: Waiter, answer: LimitAnswer): boolean {
    const isShare = answer instanceof LimitShare
    if (isShare || answer.waitMs === 0) {
      // It may have left in the meantime.
      if (this.#waiting.delete(first)) first.answer(answer)
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
