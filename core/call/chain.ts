import type { Middleware, Next, ParameterizedContext } from 'koa'
import compose from 'koa-compose'
import { Deadlines, type Expiring } from '../async/event-loop.ts'
import type { When } from '../config/schema/when.ts'
import type { GatewayError } from '../errors.ts'
import { closeFacade } from '../plugins/facade.ts'
import { ContractViolation, PluginFailure, type PluginTimer, pluginError } from '../plugins/faults.ts'
import { inLink, itemsInLink, type LinkOfCall, outsideLink } from '../plugins/link-context.ts'
import type {
  AttemptRecord,
  Call,
  CallState,
  Cost,
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
  Usage,
} from '../sdk/api.ts'
import type { Exchange, RunningLink } from './exchange.ts'
import { fits } from './link-condition.ts'
import { sendLinkReply } from './link-reply.ts'

let open: (state: LinkState) => Exchange

/** The exchange of a request's `ctx.state`. */
export const exchangeOf = ({ state }: Pick<ParameterizedContext, 'state'>): Exchange => open(state as LinkState)

/** `ctx.state` of every link: the part of a call that the plugin API documents. It gives no access to the rest of core. */
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

  /** After a refusal undefined too if it exists and the caller may not call it: what a link shows of it would tell that it exists. */
  get model(): ModelId | undefined {
    if (this.#exchange.failure?.row === 'model_not_found') return undefined
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

  get cost(): Cost | undefined {
    const { stream, charge } = this.#exchange
    return stream === undefined ? charge?.cost : undefined
  }

  get trace(): RouteTrace | undefined {
    return this.#exchange.routeTrace
  }

  get failure(): GatewayError | undefined {
    return this.#exchange.failure
  }

  get signal(): AbortSignal {
    return this.#exchange.signal
  }

  call(): Promise<Call> {
    const { currentLink } = this.#exchange
    return currentLink.outside(() => this.#exchange.call())
  }

  elapsed(): { readonly total: number; readonly overhead: number } {
    const { total, overhead } = this.#exchange.times.elapsed()
    return { total, overhead }
  }

  onRetry(fn: (used: Usage) => void | Promise<void>): void {
    this.#exchange.onRetry(fn)
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
  /** Whether it comes with the gateway. */
  readonly isBuiltIn: boolean
  /** The calls for which the link runs; undefined: all. */
  readonly when: When | undefined
}

/** Composes the guarded links of a routes.yaml, in the order of the file, around the endpoint of a call. */
export function composeChain(links: readonly ChainLink[], guard: LinkGuard): Middleware {
  return compose([...links.map((link) => guard.wrap(link)), serveEndpoint])
}

/** The innermost middleware: calls the endpoint of the request. */
async function serveEndpoint(ctx: ParameterizedContext): Promise<void> {
  const exchange = exchangeOf(ctx)
  // A closed connection needs no reply.
  if (!exchange.closed) await exchange.endpoint!.serve(exchange, ctx)
}

/** By how much the timeout of a link may be late, in milliseconds. */
const TOLERANCE_MS = 250

/** Wraps links as middleware: a link can fail only its own call, and its own time is measured and limited. */
export class LinkGuard {
  readonly #timer: PluginTimer
  readonly #limitMs: number
  readonly #deadlines: Deadlines<LinkRun>

  /** `limitMs`: a link's own time, without `next`, after which its call fails, in milliseconds. */
  constructor(timer: PluginTimer, limitMs: number) {
    this.#timer = timer
    this.#limitMs = limitMs
    this.#deadlines = new Deadlines(Math.min(TOLERANCE_MS, limitMs))
  }

  /** The guarded link. Rejects with a GatewayError; its `next` resolves even if the call fails. */
  wrap(link: ChainLink): Middleware {
    const guarded: Middleware = async (ctx, next) => {
      if (exchangeOf(ctx).closed) return
      const run = new LinkRun(link, ctx, next, { ms: this.#limitMs, deadlines: this.#deadlines })
      this.#deadlines.add(run)
      try {
        await run.done()
      } finally {
        this.#deadlines.remove(run)
        this.#timer.ran(link.name, 'handle', run.stop(performance.now()))
      }
    }
    return link.when === undefined ? guarded : onlyFor(link.when, guarded)
  }
}

/** A link with `when` runs only for calls that fit it. */
const onlyFor =
  (when: When, guarded: Middleware): Middleware =>
  async (ctx, next) => {
    const exchange = exchangeOf(ctx)
    const { endpointName, principal, tags } = exchange
    const hasModel = exchange.endpoint!.check !== 'no body'
    const call = { endpointName, principal, tags, hasModel, model: async () => (await exchange.call()).model }
    return (await fits(when, call, ctx.headers)) ? guarded(ctx, next) : next()
  }

/** The limit of a link's own time in milliseconds, and where it is watched. */
interface TimeLimit {
  readonly ms: number
  readonly deadlines: Deadlines<LinkRun>
}

/** One run of a link in a call: its handler, its `next`, and its own time. */
class LinkRun implements Expiring, RunningLink, LinkOfCall {
  previous: this | undefined
  next: this | undefined
  readonly name: string
  readonly #link: ChainLink
  readonly #ctx: ParameterizedContext
  readonly #exchange: Exchange
  readonly #rest: Next
  readonly #limit: TimeLimit
  #ownMs = 0
  /** Start of the link's current own time; undefined while it waits for `next` and after its end. */
  #runningSince: number | undefined = performance.now()
  #reject: ((error: Error) => void) | undefined
  #inner: Promise<void> | undefined
  #innerIsOver = false
  #isOver = false

  constructor(link: ChainLink, ctx: ParameterizedContext, rest: Next, limit: TimeLimit) {
    this.name = link.name
    this.#link = link
    this.#ctx = ctx
    this.#exchange = exchangeOf(ctx)
    this.#rest = rest
    this.#limit = limit
  }

  /** Runs the handler. Resolves when the handler and its `next` are done; rejects with a GatewayError. */
  async done(): Promise<void> {
    this.#exchange.enterLink(this)
    try {
      await this.#limited(this.inside(() => this.#link.handle(this.#ctx as never, () => this.#next())))
      // If a link does not await next(), the head must not be sent too early.
      if (this.#inner !== undefined && !this.#innerIsOver) await this.#inner
      if (this.#ctx.body != null && this.#exchange.failure === undefined) throw new ContractViolation('BODY_SET')
      if (this.#inner === undefined) await this.#limited(sendLinkReply(this.#exchange))
    } catch (error) {
      throw pluginError(this.name, 'handle', error)
    } finally {
      this.#isOver = true
    }
  }

  inside<Result>(work: () => Result): Result {
    return this.#link.isBuiltIn ? work() : inLink(this, work)
  }

  itemsInside<Item>(items: Iterable<Item> | AsyncIterable<Item>): Iterable<Item> | AsyncIterable<Item> {
    return this.#link.isBuiltIn ? items : itemsInLink(this, items)
  }

  outside<Result>(work: () => Result): Result {
    return this.#link.isBuiltIn ? work() : outsideLink(work)
  }

  lost(thrown: unknown): void {
    const error = this.#exchange.lost(new PluginFailure(this.name, 'background', thrown))
    this.#reject?.(error)
  }

  /** Stops the link's own time and returns it, in milliseconds. */
  stop(now: number): number {
    this.#ownMs = this.#timeAt(now)
    this.#runningSince = undefined
    return this.#ownMs
  }

  /** The link's own time so far, also if it hangs when its client disconnects. */
  record(now: number): LinkRecord {
    const answered = this.#exchange.linkReply !== undefined && this.#inner === undefined
    return { name: this.name, ms: this.#timeAt(now), ...(answered && { answered }) }
  }

  /** Of its own time: none while it waits for `next`. */
  get deadline(): number {
    const now = performance.now()
    return this.#runningSince === undefined ? Number.POSITIVE_INFINITY : now + this.#limit.ms - this.#timeAt(now)
  }

  onDeadline(): void {
    this.#reject?.(new ContractViolation('TOOK_TOO_LONG'))
  }

  /** Without the time in which the body is read: a client may send it slowly. */
  #timeAt(now: number): number {
    const since = this.#runningSince
    return since === undefined ? this.#ownMs : this.#ownMs + now - since - this.#exchange.readingMs(since, now)
  }

  /** Settles as `work` does, or rejects if the link exceeds its time limit. */
  #limited(work: unknown): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#reject = reject
      Promise.resolve(work).then(resolve, reject)
    })
  }

  #next(): Promise<void> {
    // The link is done: its call was passed on, answered or has failed.
    if (this.#isOver) return Promise.resolve()
    if (this.#inner !== undefined) return this.#violation('NEXT_TWICE')
    if (this.#exchange.linkReply !== undefined) return this.#violation('NEXT_AFTER_REPLY')
    this.#inner = this.outside(() => this.#runRest())
    return this.#inner
  }

  /** next() resolves even if the call fails, so that every link can set headers of every reply. */
  async #runRest(): Promise<void> {
    this.stop(performance.now())
    try {
      await this.#rest()
    } catch (error) {
      this.#exchange.fail(error)
    }
    this.#innerIsOver = true
    this.#exchange.currentLink = this
    // A link that threw in the meantime no longer runs.
    if (this.#isOver) return
    this.#runningSince = performance.now()
    this.#limit.deadlines.expect(this.deadline)
  }

  /** Fails the call and rejects. If the link does not await it, the unhandled rejection must not end the process. */
  #violation(code: 'NEXT_TWICE' | 'NEXT_AFTER_REPLY'): Promise<never> {
    const error = pluginError(this.name, 'handle', new ContractViolation(code))
    this.#exchange.fail(error)
    const rejected = Promise.reject(error)
    rejected.catch(() => undefined)
    return rejected
  }
}
