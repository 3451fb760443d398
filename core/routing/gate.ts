import { GatewayError } from '../errors.ts'
import type { Pause } from './pause.ts'

/** How many calls an upstream gets at once. */
export interface GateLimits {
  readonly limit: number
  /** How many more may wait for a place. */
  readonly queue: number
  /** How long one may wait, in milliseconds. */
  readonly wait: number
}

interface Waiter {
  admit(): void
  end(error: GatewayError): void
}

/** The places at one upstream, and the short queue before them: first come, first served. */
export class Gate {
  readonly #limits: GateLimits | undefined
  #taken = 0
  /** In the order in which they came. */
  readonly #queue = new Set<Waiter>()

  /** Without limits every call has a place. */
  constructor(limits: GateLimits | undefined) {
    this.#limits = limits
  }

  /** How many wait. */
  get waiting(): number {
    return this.#queue.size
  }

  /**
   * Takes a place. Where there is none, the pause until there is: it ends with `upstream_busy` if that takes too long. Throws
   * `upstream_busy` where too many wait already.
   */
  enter(): Pause | undefined {
    if (this.#limits === undefined || this.#taken < this.#limits.limit) {
      this.#taken++
      return undefined
    }
    if (this.#queue.size >= this.#limits.queue) throw busy()
    return this.#wait(this.#limits.wait)
  }

  /** Gives a place back, once for each that was taken. */
  leave(): void {
    this.#taken--
    const [next] = this.#queue
    if (next === undefined) return
    this.#queue.delete(next)
    this.#taken++
    next.admit()
  }

  #wait(ms: number): Pause {
    const { promise: over, resolve, reject } = Promise.withResolvers<void>()
    const waiter: Waiter = {
      admit: () => {
        clearTimeout(timer)
        resolve()
      },
      end: (error) => {
        clearTimeout(timer)
        this.#queue.delete(waiter)
        reject(error)
      },
    }
    const timer = setTimeout(() => waiter.end(busy()), ms)
    this.#queue.add(waiter)
    return { over, end: waiter.end }
  }
}

const busy = (): GatewayError => new GatewayError('upstream_busy', { headers: { 'retry-after': '1' } })
