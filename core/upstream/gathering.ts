/** Takes what was gathered. */
export interface Gatherer {
  onGathered(bytes: Buffer): void
}

/**
 * Gathers the pieces of a body that one read of the socket brings: a stream's may be a hundred, and to look at each by itself costs
 * several times as much. What was gathered is handed over before anything else is read.
 */
export class Gathering {
  readonly #owner: Gatherer
  #pieces: Buffer[] = []

  constructor(owner: Gatherer) {
    this.#owner = owner
  }

  add(bytes: Buffer): void {
    if (this.#pieces.push(bytes) === 1) process.nextTick(flush, this)
  }

  /** Hands over what has come, now. */
  flush(): void {
    const pieces = this.#pieces
    if (pieces.length === 0) return
    this.#pieces = []
    this.#owner.onGathered(pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces))
  }
}

const flush = (gathering: Gathering): void => gathering.flush()
