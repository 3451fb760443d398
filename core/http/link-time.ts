import type { LinkRecord } from '../plugin/api.ts'

/** How long a link runs in one call, what it calls by `next` left out: on the way in and on the way out. It begins when it is made. */
export class LinkTime {
  readonly #name: string
  #taken = 0
  /** Since when it runs; undefined while it stands still. */
  #since: number | undefined = performance.now()

  constructor(name: string) {
    this.#name = name
  }

  /** Milliseconds so far. */
  taken(now: number): number {
    return this.#since === undefined ? this.#taken : this.#taken + now - this.#since
  }

  /** Somebody else runs now, or the link is done. Returns the milliseconds so far. */
  stop(now: number): number {
    this.#taken = this.taken(now)
    this.#since = undefined
    return this.#taken
  }

  /** The link runs again. */
  goOn(now: number): void {
    this.#since = now
  }

  /** What is known of it now: of a link that still runs too, as one does that hangs while its client leaves. */
  record(now: number): LinkRecord {
    return { name: this.#name, ms: this.taken(now) }
  }
}
