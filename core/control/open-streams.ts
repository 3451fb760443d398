import { GatewayError } from '../errors.ts'

/** The most replies that are streamed at once, live views and exports: to one caller, and to all. Each holds memory, and exports a connection. */
const MAX_STREAMS = { caller: 10, all: 500 } as const

/** Counts the replies that are being streamed. */
export class OpenStreams {
  readonly #byCaller = new Map<string, number>()
  #all = 0

  /** One more begins. Call the returned function once when it has ended. Throws `too_many_streams`. */
  open(caller: string): () => void {
    const own = this.#byCaller.get(caller) ?? 0
    if (own >= MAX_STREAMS.caller) throw tooMany(`You have ${own} live views and exports open, the most that one may have.`)
    if (this.#all >= MAX_STREAMS.all)
      throw tooMany(`All users together have ${this.#all} live views and exports open, the most there may be.`)
    this.#byCaller.set(caller, own + 1)
    this.#all++
    return () => {
      this.#all--
      const left = this.#byCaller.get(caller)! - 1
      if (left === 0) this.#byCaller.delete(caller)
      else this.#byCaller.set(caller, left)
    }
  }
}

const tooMany = (detail: string): GatewayError =>
  new GatewayError('too_many_streams', { values: { detail }, headers: { 'retry-after': '1' } })
