import type { ParameterizedContext } from 'koa'
import { Watch, type Watched } from '../async/ticker.ts'
import type { ChainLink } from '../gateway/generation.ts'
import type { PluginMetrics } from '../observe/gateway-metrics.ts'
import { Misuse, pluginError } from '../plugins/faults.ts'
import type { CallState, LinkRecord } from '../sdk/api.ts'
import type { Exchange } from './exchange.ts'

/** How often links are looked at that may hang, in milliseconds. */
const TICK_MS = 250

/** Runs links around an endpoint, so that whatever a link does costs its own call only. */
export class Chain implements TurnOwner {
  readonly #metrics: PluginMetrics
  readonly #limit: number
  readonly #watch: Watch<Turn>

  /** `limit`: milliseconds of its own, `next` excluded, that a link may take before its call fails. */
  constructor(metrics: PluginMetrics, limit: number) {
    this.#metrics = metrics
    this.#limit = limit
    this.#watch = new Watch(Math.min(TICK_MS, limit))
  }

  /** Top to bottom, then the endpoint, then bottom to top. Failures end up in `exchange.failure`; it rejects only for the outermost. */
  run(links: readonly ChainLink[], passage: Passage, index = 0): Promise<void> {
    // Whoever left needs no further link.
    if (passage.exchange.closed) return Promise.resolve()
    const link = links[index]
    if (link === undefined) return passage.endpoint()
    const rest = () => this.run(links, passage, index + 1)
    if (link.namespaces !== undefined) return this.#takeIfConcerned(link, passage, rest)
    return this.#take(link, passage, rest)
  }

  #take(link: ChainLink, passage: Passage, rest: () => Promise<void>): Promise<void> {
    const turn = new Turn({ link, passage, rest, limit: this.#limit, chain: this })
    this.#watch.add(turn)
    return turn.run()
  }

  onOver(turn: Turn, link: ChainLink, ms: number): void {
    this.#watch.remove(turn)
    this.#metrics.ran(link.name, 'handle', ms)
  }

  /** `when` looks at the namespace asked for; a request that names no model concerns no such link. */
  async #takeIfConcerned(link: ChainLink, passage: Passage, rest: () => Promise<void>): Promise<void> {
    const { exchange } = passage
    const concerned = exchange.endpoint !== 'models' && link.namespaces!.has((await exchange.call()).model.namespace)
    return concerned ? this.#take(link, passage, rest) : rest()
  }
}

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

/** Koa's context with our state. */
export type CallContext = ParameterizedContext<CallState>

/** One call on its way through the links. */
export interface Passage {
  readonly ctx: CallContext
  readonly exchange: Exchange
  /** What stands behind the last link. */
  endpoint(): Promise<void>
  /** What stands behind a link that calls no other: it has replied by itself. */
  answer(): Promise<void>
}
