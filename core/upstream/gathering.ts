import { Batch } from '../async/batch.ts'

/** Takes what was gathered. */
export interface Gatherer {
  onGathered(bytes: Buffer): void
  /** All of it was handed over. */
  onWhole(): void
}

/** So much is handed over at once: whoever reads slowly must be able to say so. Bytes. */
const MOST = 64 * 1024

/**
 * Gathers the pieces of a body that one turn of the event loop brings: a stream's may be a hundred, and to look at each by itself costs
 * several times as much.
 */
export class Gathering {
  static readonly #batch = new Batch<Gathering>((gathering) => gathering.#turn())
  readonly #owner: Gatherer
  #pieces: Buffer[] = []
  #size = 0
  #isWhole = false
  #isWaiting = false

  constructor(owner: Gatherer) {
    this.#owner = owner
  }

  add(bytes: Buffer): void {
    this.#pieces.push(bytes)
    this.#size += bytes.length
    if (this.#size >= MOST) this.flush()
    else this.#await()
  }

  /** Nothing more will come. */
  end(): void {
    this.#isWhole = true
    this.#await()
  }

  /** Hands over what has come, now. */
  flush(): void {
    const pieces = this.#pieces
    if (pieces.length === 0) return
    const bytes = pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces, this.#size)
    this.#pieces = []
    this.#size = 0
    this.#owner.onGathered(bytes)
  }

  #await(): void {
    if (this.#isWaiting) return
    this.#isWaiting = true
    Gathering.#batch.add(this)
  }

  #turn(): void {
    this.#isWaiting = false
    this.flush()
    if (this.#isWhole) this.#owner.onWhole()
  }
}
