/** How long a call has taken since its request arrived, and how much of that it waited for upstreams, in milliseconds. */
export class Stopwatch {
  readonly #startedAt = performance.now()
  #waited = 0
  #overheadAtHead: number | undefined
  #waitingSince: number | undefined

  /** The wait under way; 0 where there is none. */
  get waitedMs(): number {
    return this.#waitingSince === undefined ? 0 : performance.now() - this.#waitingSince
  }

  /** `overhead`: in the gateway itself, until the reply's head. */
  elapsed(): { readonly total: number; readonly overhead: number } {
    const total = performance.now() - this.#startedAt
    return { total, overhead: this.#overheadAtHead ?? Math.max(total - this.#waited - this.waitedMs, 0) }
  }

  /** The reply begins: what it takes from now on is the upstream's time, and the client's. */
  head(): void {
    this.#overheadAtHead ??= this.elapsed().overhead
  }

  /** An upstream was asked. */
  wait(): void {
    this.#waitingSince = performance.now()
  }

  /** The upstream has answered, or failed. */
  stopWaiting(): void {
    this.#waited += this.waitedMs
    this.#waitingSince = undefined
  }
}
