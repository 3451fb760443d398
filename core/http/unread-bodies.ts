import type { IncomingMessage } from 'node:http'

/** Then it is the turn of the next body, in milliseconds: a client may send slowly, or never. */
const TURN_MS = 10

/**
 * Discards the rests of bodies whose requests have been answered, so that their clients can read the replies: one after the other, in
 * turns. Node would discard all at once, up to 2 MB of each in one iteration of the event loop.
 */
export class UnreadBodies {
  readonly #waiting: IncomingMessage[] = []
  #current: IncomingMessage | undefined

  /** Call it for an incomplete request, before its reply ends. */
  discard(request: IncomingMessage): void {
    // For Node the body is then one that is being read: it leaves it alone.
    request.read(0)
    request.pause()
    this.#waiting.push(request)
    if (this.#current === undefined) this.#next()
  }

  #next(): void {
    const last = this.#current
    if (last !== undefined && !last.complete && !last.destroyed) this.#waiting.push(last.pause())
    this.#current = this.#waiting.shift()?.resume()
    if (this.#current !== undefined) setTimeout(() => this.#next(), TURN_MS).unref()
  }
}
