/** How long a call has taken so far, since its request arrived, and how much of that it waited for upstreams: in milliseconds. */
export class Stopwatch {
  readonly #startedAt = performance.now()
  #waited = 0
  #atHead: number | undefined
  #waitingSince: number | undefined

  /** In the wait under way; 0 where there is none. */
  get waiting(): number {
    return this.#waitingSince === undefined ? 0 : performance.now() - this.#waitingSince
  }

  /** `overhead`: in the gateway itself, until the reply's head. */
  elapsed(): { readonly total: number; readonly overhead: number } {
    const total = performance.now() - this.#startedAt
    return { total, overhead: this.#atHead ?? Math.max(total - this.#waited - this.waiting, 0) }
  }

  /** The reply begins: what it takes from now on is the upstream's time, and the client's. */
  head(): void {
    this.#atHead ??= this.elapsed().overhead
  }

  /** An upstream has been asked. */
  wait(): void {
    this.#waitingSince = performance.now()
  }

  /** It has answered, or failed. */
  stopWaiting(): void {
    this.#waited += this.waiting
    this.#waitingSince = undefined
  }
}
