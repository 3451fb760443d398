/** Places for work that runs at the same time, given in order of arrival. */
export class Semaphore {
  #free: number
  readonly #waiting = new Set<() => void>()

  constructor(places: number) {
    this.#free = places
  }

  /** How many wait for a place. */
  get waiting(): number {
    return this.#waiting.size
  }

  /** Takes a place, if one is free. */
  tryAcquire(): boolean {
    if (this.#free === 0) return false
    this.#free--
    return true
  }

  /** Waits for a place, and takes it. Rejects with the reason of `signal` if that is aborted first. */
  async acquire(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted()
    if (this.tryAcquire()) return
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const leave = (): void => {
      this.#waiting.delete(resolve)
      reject(signal!.reason)
    }
    this.#waiting.add(resolve)
    signal?.addEventListener('abort', leave, { once: true })
    await promise.finally(() => signal?.removeEventListener('abort', leave))
  }

  /** Gives a place back. Call it once for each place taken. */
  release(): void {
    const [next] = this.#waiting
    if (next === undefined) {
      this.#free++
      return
    }
    this.#waiting.delete(next)
    next()
  }

  /** Runs work once it has a place. */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    await this.acquire()
    try {
      return await work()
    } finally {
      this.release()
    }
  }
}
