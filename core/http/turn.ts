import type { ChainLink } from '../generation.ts'
import { Misuse } from '../plugin/misuse.ts'
import { pluginError } from '../plugin/plugin-fault.ts'
import type { Watched } from '../watch.ts'
import { LinkTime } from './link-time.ts'
import type { Passage } from './passage.ts'

/** Hears of the end of turns. */
export interface TurnOwner {
  /** `ms`: what the link took of its own. */
  onOver(turn: Turn, link: ChainLink, ms: number): void
}

/** What a turn is made of. */
export interface TurnParts {
  readonly link: ChainLink
  readonly passage: Passage
  /** What the link's `next` calls. */
  readonly rest: () => Promise<void>
  /** Milliseconds of its own that the link may take. */
  readonly limit: number
  readonly chain: TurnOwner
}

/** One link's turn in one call: its handler, with all that it calls by `next`, and what it takes of its own time. */
export class Turn implements Watched {
  before: this | undefined
  after: this | undefined
  readonly #parts: TurnParts
  readonly #time: LinkTime
  #reject: ((error: Error) => void) | undefined
  #inner: Promise<void> | undefined
  #innerIsOver = false
  #isOver = false

  constructor(parts: TurnParts) {
    this.#parts = parts
    this.#time = new LinkTime(parts.link.name)
  }

  /** Runs the handler. Resolves when it is done, and all that it called; rejects with a GatewayError. */
  async run(): Promise<void> {
    const { link, passage, chain } = this.#parts
    const { ctx, exchange } = passage
    exchange.linkName = link.name
    exchange.linkTimes.push(this.#time)
    try {
      await this.#within(link.handle(ctx as never, () => this.#next()))
      // A link that does not await next() must not let the head go before its time.
      if (this.#inner !== undefined && !this.#innerIsOver) await this.#inner
      if (ctx.body != null && exchange.failure === undefined) throw new Misuse('BODY_SET')
      if (this.#inner === undefined) await this.#within(passage.answer())
    } catch (error) {
      throw pluginError(link.name, 'handle', error)
    } finally {
      this.#isOver = true
      chain.onOver(this, link, this.#time.stop(performance.now()))
    }
  }

  look(now: number): void {
    if (this.#time.taken(now) > this.#parts.limit) this.#reject?.(new Misuse('TOOK_TOO_LONG'))
  }

  /** What the work comes to; rejects when the link has taken too long. */
  #within(work: unknown): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#reject = reject
      Promise.resolve(work).then(resolve, reject)
    })
  }

  #next(): Promise<void> {
    // Its call is over, and was failed for it where it had not been passed on.
    if (this.#isOver) return Promise.resolve()
    const { link, passage } = this.#parts
    const { exchange } = passage
    if (this.#inner !== undefined || exchange.ownReply !== undefined) {
      const misuse = new Misuse(this.#inner === undefined ? 'NEXT_AFTER_REPLY' : 'NEXT_TWICE')
      const error = pluginError(link.name, 'handle', misuse)
      exchange.fail(error)
      return quietly(error)
    }
    this.#inner = this.#goOn()
    return this.#inner
  }

  /** A link's next() resolves even when the call failed, so that every link can stamp the head of every reply. */
  async #goOn(): Promise<void> {
    const { link, passage, rest } = this.#parts
    const { exchange } = passage
    this.#time.stop(performance.now())
    try {
      await rest()
    } catch (error) {
      exchange.fail(error)
    }
    this.#innerIsOver = true
    exchange.linkName = link.name
    // One that threw meanwhile runs no more.
    if (!this.#isOver) this.#time.goOn(performance.now())
  }
}

/** Rejects for a link that waits; one that does not must not end the process by a rejection that nobody handles. */
function quietly(error: Error): Promise<never> {
  const rejected = Promise.reject(error)
  rejected.catch(() => undefined)
  return rejected
}
