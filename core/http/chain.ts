import type { Middleware, Next, ParameterizedContext } from 'koa'
import compose from 'koa-compose'
import { Ticker, type TickListener } from '../async/event-loop.ts'
import type { GatewayError } from '../errors.ts'
import { closeFacade } from '../plugins/facade.ts'
import { ContractViolation, type PluginTimer, pluginError } from '../plugins/faults.ts'
import type {
  AttemptRecord,
  Call,
  CallState,
  EndpointName,
  Link,
  LinkRecord,
  ModelId,
  Outcome,
  Principal,
  Reply,
  ReplyTransform,
  RouteTrace,
  Served,
} from '../sdk/api.ts'
import type { Exchange } from './exchange.ts'
import { sendLinkReply } from './link-reply.ts'

let open: (state: LinkState) => Exchange

/** The exchange behind a request's `ctx.state`. */
export const exchangeOf = ({ state }: Pick<ParameterizedContext, 'state'>): Exchange => open(state as LinkState)

/** `ctx.state` of every link: what the seam documents of a call. Nothing else of core can be reached through it. */
export class LinkState implements CallState {
  static {
    open = (state) => state.#exchange
  }

  readonly #exchange: Exchange
  #reply: Reply | undefined

  constructor(exchange: Exchange) {
    this.#exchange = exchange
  }

  get id(): string {
    return this.#exchange.id
  }

  get endpoint(): EndpointName {
    return this.#exchange.endpointName as EndpointName
  }

  get principal(): Principal | undefined {
    return this.#exchange.principal
  }

  set principal(principal: Principal | undefined) {
    this.#exchange.principal = principal
  }

  get tags(): Record<string, string> {
    return this.#exchange.tags
  }

  get upstreamHeaders(): Record<string, string> {
    return this.#exchange.upstreamHeaders
  }

  get model(): ModelId | undefined {
    return this.#exchange.model
  }

  get reply(): Reply {
    this.#reply ??= replyOf(this.#exchange)
    return this.#reply
  }

  get served(): Served | undefined {
    return this.#exchange.served
  }

  get attempts(): readonly AttemptRecord[] {
    return this.#exchange.attemptsSoFar
  }

  get trace(): RouteTrace | undefined {
    return this.#exchange.trace
  }

  get failure(): GatewayError | undefined {
    return this.#exchange.failure
  }

  get signal(): AbortSignal {
    return this.#exchange.signal
  }

  call(): Promise<Call> {
    return this.#exchange.call()
  }

  elapsed(): { readonly total: number; readonly overhead: number } {
    return this.#exchange.elapsed()
  }

  onSettled(fn: (outcome: Outcome) => void | Promise<void>): void {
    this.#exchange.onSettled(fn)
  }
}

function replyOf(exchange: Exchange): Reply {
  return Object.freeze<Reply>({
    send: (reply) => exchange.replyWith(reply),
    transform: (transform: ReplyTransform) => exchange.transform(transform),
  })
}

closeFacade(LinkState)

/** A link of the chain, ready to run. */
export interface ChainLink {
  /** The plugin's name. */
  readonly name: string
  readonly handle: Middleware<CallState>
  readonly explain: Link['explain']
  /** The namespaces whose calls the link sees. */
  readonly namespaces: ReadonlySet<string> | 'all'
}

/** The links of a routes.yaml around the endpoint of a call, in the order written, each of them guarded. */
export function composeChain(links: readonly ChainLink[], guard: LinkGuard): Middleware {
  return compose([...links.map((link) => guard.wrap(link)), serveEndpoint])
}

/** The innermost middleware: the endpoint that the request asked for. */
async function serveEndpoint(ctx: ParameterizedContext): Promise<void> {
  const exchange = exchangeOf(ctx)
  // A client that has left needs no answer.
  if (!exchange.closed) await exchange.endpoint!.serve(exchange, ctx)
}

/** How often the time of links is checked, in milliseconds. */
const TICK_MS = 250

/** Makes middleware of links: whatever a link does costs its own call only, and its own time is measured and limited. */
export class LinkGuard {
  readonly #timer: PluginTimer
  readonly #limitMs: number
  readonly #ticker: Ticker<LinkRun>

  /** `limitMs`: milliseconds of its own, `next` excluded, that a link may take before its call fails. */
  constructor(timer: PluginTimer, limitMs: number) {
    this.#timer = timer
    this.#limitMs = limitMs
    this.#ticker = new Ticker(Math.min(TICK_MS, limitMs))
  }

  /** The guarded link. Rejects with a GatewayError; what it calls by `next` never rejects. */
  wrap(link: ChainLink): Middleware {
    const guarded: Middleware = async (ctx, next) => {
      if (exchangeOf(ctx).closed) return
      const run = new LinkRun(link, ctx, next, this.#limitMs)
      this.#ticker.add(run)
      try {
        await run.done()
      } finally {
        this.#ticker.remove(run)
        this.#timer.ran(link.name, 'handle', run.stop(performance.now()))
      }
    }
    return link.namespaces === 'all' ? guarded : onlyFor(link.namespaces, guarded)
  }
}

/** A link with `when` sees the calls of its namespaces. A request that names no model concerns no such link. */
const onlyFor =
  (namespaces: ReadonlySet<string>, guarded: Middleware): Middleware =>
  async (ctx, next) => {
    const exchange = exchangeOf(ctx)
    const concerned = exchange.endpoint!.check !== 'no body' && namespaces.has((await exchange.call()).model.namespace)
    return concerned ? guarded(ctx, next) : next()
  }

/** One link in one call: its handler, with all that it calls by `next`, and its own time. */
class LinkRun implements TickListener {
  previous: this | undefined
  next: this | undefined
  readonly name: string
  readonly #link: ChainLink
  readonly #ctx: ParameterizedContext
  readonly #exchange: Exchange
  readonly #rest: Next
  readonly #limitMs: number
  #ownMs = 0
  /** Since when the link itself runs; undefined while it waits for `next`, and when it is over. */
  #runningSince: number | undefined = performance.now()
  #reject: ((error: Error) => void) | undefined
  #inner: Promise<void> | undefined
  #innerIsOver = false
  #isOver = false

  constructor(link: ChainLink, ctx: ParameterizedContext, rest: Next, limitMs: number) {
    this.name = link.name
    this.#link = link
    this.#ctx = ctx
    this.#exchange = exchangeOf(ctx)
    this.#rest = rest
    this.#limitMs = limitMs
  }

  /** Runs the handler. Resolves when it is done, and all that it called; rejects with a GatewayError. */
  async done(): Promise<void> {
    this.#exchange.enterLink(this)
    try {
      await this.#limited(this.#link.handle(this.#ctx as never, () => this.#next()))
      // A link that does not await next() must not let the head go before its time.
      if (this.#inner !== undefined && !this.#innerIsOver) await this.#inner
      if (this.#ctx.body != null && this.#exchange.failure === undefined) throw new ContractViolation('BODY_SET')
      if (this.#inner === undefined) await this.#limited(sendLinkReply(this.#exchange))
    } catch (error) {
      throw pluginError(this.name, 'handle', error)
    } finally {
      this.#isOver = true
    }
  }

  /** The link waits, or is done. Returns its own time so far, in milliseconds. */
  stop(now: number): number {
    this.#ownMs = this.#timeAt(now)
    this.#runningSince = undefined
    return this.#ownMs
  }

  /** Its own time so far: also of a link that hangs while its client leaves. */
  record(now: number): LinkRecord {
    return { name: this.name, ms: this.#timeAt(now) }
  }

  onTick(now: number): void {
    if (this.#timeAt(now) > this.#limitMs) this.#reject?.(new ContractViolation('TOOK_TOO_LONG'))
  }

  #timeAt(now: number): number {
    return this.#runningSince === undefined ? this.#ownMs : this.#ownMs + now - this.#runningSince
  }

  /** Settles as the work does; rejects when the link has taken too long. */
  #limited(work: unknown): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#reject = reject
      Promise.resolve(work).then(resolve, reject)
    })
  }

  #next(): Promise<void> {
    // The link's call is over, and has failed if the link had not passed it on.
    if (this.#isOver) return Promise.resolve()
    if (this.#inner !== undefined) return this.#violation('NEXT_TWICE')
    if (this.#exchange.linkReply !== undefined) return this.#violation('NEXT_AFTER_REPLY')
    this.#inner = this.#runRest()
    return this.#inner
  }

  /** A link's next() resolves even when the call failed, so that every link can stamp the head of every reply. */
  async #runRest(): Promise<void> {
    this.stop(performance.now())
    try {
      await this.#rest()
    } catch (error) {
      this.#exchange.fail(error)
    }
    this.#innerIsOver = true
    this.#exchange.currentLink = this.name
    // A link that threw meanwhile does not run any more.
    if (!this.#isOver) this.#runningSince = performance.now()
  }

  /** Fails the call. Rejects for a link that waits; one that does not wait must not end the process by an unhandled rejection. */
  #violation(code: 'NEXT_TWICE' | 'NEXT_AFTER_REPLY'): Promise<never> {
    const error = pluginError(this.name, 'handle', new ContractViolation(code))
    this.#exchange.fail(error)
    const rejected = Promise.reject(error)
    rejected.catch(() => undefined)
    return rejected
  }
}
