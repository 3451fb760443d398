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
  waits(): void {
    this.#waitingSince = performance.now()
  }

  /** The wait is over. Returns how long it was; 0 if the call waited for no upstream. */
  waited(): number {
    const ms = this.#wait
    this.#waitedMs += ms
    this.#waitingSince = undefined
    return ms
  }

  /** The head of a stream is due. */
  streams(): void {
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
