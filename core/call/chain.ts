import type { Middleware, ParameterizedContext } from 'koa'
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
import type { CallLinks, Exchange, RunningLink } from './exchange.ts'
import { fits } from './link-condition.ts'
import { sendLinkReply } from './link-reply.ts'

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

/** By how much the timeout of a link may be late, in milliseconds. */
const TOLERANCE_MS = 250

/** Measures and limits the own time of links, in all calls of this process. */
export class LinkGuard {
  readonly #timer: PluginTimer
  readonly #limitMs: number
  readonly #deadlines: Deadlines<ChainRun>

  /** `limitMs`: a link's own time, without `next`, after which its call fails, in milliseconds. */
  constructor(timer: PluginTimer, limitMs: number) {
    this.#timer = timer
    this.#limitMs = limitMs
    this.#deadlines = new Deadlines(Math.min(TOLERANCE_MS, limitMs))
  }

  /** A link of the chain runs. */
  watch(run: ChainRun): void {
    this.#deadlines.add(run)
  }

  /** No link of the chain runs any more. */
  forget(run: ChainRun): void {
    this.#deadlines.remove(run)
  }

  /** When the time of a link is over that has used `usedMs` of it at `now`. */
  deadline(now: number, usedMs: number): number {
    return now + this.#limitMs - usedMs
  }

  /** The deadline of a watched chain has changed to this one. */
  expect(deadline: number): void {
    this.#deadlines.expect(deadline)
  }

  /** A link is over. `ms`: its own time. */
  ran(link: string, ms: number): void {
    this.#timer.ran(link, 'handle', ms)
  }
}

/** The links of a routes.yaml, in the order of the file, around the endpoint of each call. */
export class Chain {
  readonly #links: readonly ChainLink[]
  readonly #guard: LinkGuard

  constructor(links: readonly ChainLink[], guard: LinkGuard) {
    this.#links = links
    this.#guard = guard
  }

  /** Runs the links and the endpoint of a call. Never rejects: what they throw is the failure of the call. */
  run(exchange: Exchange, ctx: ParameterizedContext): Promise<void> {
    return new ChainRun(this.#links, this.#guard, exchange, ctx).from(0)
  }
}

/**
 * One run of the chain for a call: each link around the next one, and the last around the endpoint. A link can fail only its own call, and its
 * own time is measured and limited.
 */
class ChainRun implements Expiring {
  previous: this | undefined
  next: this | undefined
  readonly exchange: Exchange
  readonly ctx: ParameterizedContext
  readonly guard: LinkGuard
  readonly #links: readonly ChainLink[]
  /** How many links run. A link may outlast the one around it, if that fails. */
  #running = 0

  constructor(links: readonly ChainLink[], guard: LinkGuard, exchange: Exchange, ctx: ParameterizedContext) {
    this.#links = links
    this.guard = guard
    this.exchange = exchange
    this.ctx = ctx
  }

  /** Runs the links from one on, then the endpoint. Never rejects: a failure is the call's reply. */
  from(at: number): Promise<void> {
    const link = this.#links[at]
    // A client that has gone needs no reply.
    if (this.exchange.closed) return Promise.resolve()
    if (link === undefined) return this.#serve()
    return link.when === undefined ? this.#enter(link, at) : this.#enterIf(link.when, link, at)
  }

  #enter(link: ChainLink, at: number): Promise<void> {
    const run = new LinkRun(this, link)
    this.exchange.links!.runs.push(run)
    if (this.#running++ === 0) this.guard.watch(this)
    return run.begin(at + 1)
  }

  /** One of its links is over. */
  leave(): void {
    if (--this.#running === 0) this.guard.forget(this)
  }

  /** A link with `when` runs only for calls that fit it. */
  async #enterIf(when: When, link: ChainLink, at: number): Promise<void> {
    const { exchange, ctx } = this
    const { endpointName, principal, tags } = exchange
    const hasModel = exchange.callsModel
    const call = { endpointName, principal, tags, hasModel, model: async () => (await exchange.call()).model }
    try {
      if (!(await fits(when, call, ctx.headers))) return this.from(at + 1)
    } catch (error) {
      return exchange.fail(error)
    }
    // Its client may have left while the body was read.
    return exchange.closed ? undefined : this.#enter(link, at)
  }

  async #serve(): Promise<void> {
    try {
      await this.exchange.endpoint!.serve(this.exchange, this.ctx)
    } catch (error) {
      this.exchange.fail(error)
    }
  }

  get deadline(): number {
    const now = performance.now()
    return this.exchange.links!.runs.reduce((earliest, run) => Math.min(earliest, run.deadline(now)), Number.POSITIVE_INFINITY)
  }

  onDeadline(): void {
    const now = performance.now()
    for (const run of this.exchange.links!.runs) if (run.deadline(now) <= now) run.fail(new ContractViolation('TOOK_TOO_LONG'))
  }
}

/** One run of a link in a call: its handler, its `next`, its own time, and its async context, to which all belongs that its code starts. */
class LinkRun implements RunningLink, LinkOfCall {
  readonly #chain: ChainRun
  readonly #link: ChainLink
  /** Resolves what `next()` of the link around it awaits; undefined once it is over. */
  #ended: (() => void) | undefined
  #ownMs = 0
  /** Start of its current own time; undefined while it waits for `next`, and after its end. */
  #since: number | undefined
  /** The rest of the chain, if it has called `next`. */
  #rest: Promise<void> | undefined

  constructor(chain: ChainRun, link: ChainLink) {
    this.#chain = chain
    this.#link = link
  }

  get #links(): CallLinks {
    return this.#chain.exchange.links!
  }

  get name(): string {
    return this.#link.name
  }

  /** Calls the handler, whose `next` goes on with the link at `following`. Resolves when the link is over, whatever it does. */
  begin(following: number): Promise<void> {
    return new Promise((ended) => {
      const { ctx } = this.#chain
      this.#ended = ended
      this.#run()
      try {
        const handled = this.inside(() => this.#link.handle(ctx as never, () => this.#next(following)))
        Promise.resolve(handled).then(
          () => this.#handled(),
          (thrown: unknown) => this.fail(thrown),
        )
      } catch (thrown) {
        this.fail(thrown)
      }
    })
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
    this.#links.lost(new PluginFailure(this.name, 'background', thrown))
    this.#end()
  }

  fail(thrown: unknown): void {
    if (this.#ended === undefined) return
    const { exchange } = this.#chain
    exchange.fail(exchange.linkError(this.name, 'handle', thrown))
    this.#end()
  }

  deadline(now: number): number {
    return this.#since === undefined ? Number.POSITIVE_INFINITY : this.#chain.guard.deadline(now, this.#timeAt(now))
  }

  record(now: number): LinkRecord {
    const answered = this.#links.reply !== undefined && this.#rest === undefined
    return { name: this.name, ms: this.#timeAt(now), ...(answered && { answered }) }
  }

  /** Its handler is done: the link is over if the rest of the chain is, or its own reply. */
  #handled(): void {
    const { exchange, ctx } = this.#chain
    if (this.#ended === undefined) return
    // If it does not await next(), the head must not be sent too early.
    if (this.#rest !== undefined && this.#since === undefined) void this.#rest.then(() => this.#handled())
    // Its client has left: whatever the link has made of that, nobody gets it.
    else if (exchange.closed) this.#end()
    else if (ctx.body != null && exchange.failure === undefined) this.fail(new ContractViolation('BODY_SET'))
    else if (this.#rest !== undefined) this.#end()
    else
      sendLinkReply(exchange).then(
        () => this.#end(),
        (error: unknown) => this.fail(error),
      )
  }

  #end(): void {
    const ended = this.#ended
    if (ended === undefined) return
    this.#ended = undefined
    this.#stop(performance.now())
    this.#chain.guard.ran(this.name, this.#ownMs)
    this.#chain.leave()
    ended()
  }

  #stop(now: number): void {
    this.#ownMs = this.#timeAt(now)
    this.#since = undefined
  }

  /** Without the time in which the body is read: a client may send it slowly. */
  #timeAt(now: number): number {
    const since = this.#since
    return since === undefined ? this.#ownMs : this.#ownMs + now - since - this.#chain.exchange.readingMs(since, now)
  }

  /** Resolves even if the call fails, so that every link can set headers of every reply. */
  #next(following: number): Promise<void> {
    // Its call was passed on, answered or has failed.
    if (this.#ended === undefined) return Promise.resolve()
    if (this.#rest !== undefined) return this.#violation('NEXT_TWICE')
    if (this.#links.reply !== undefined) return this.#violation('NEXT_AFTER_REPLY')
    this.#stop(performance.now())
    this.#rest = this.outside(() => this.#chain.from(following).then(() => this.#goOn()))
    return this.#rest
  }

  /** The rest of the chain is over: its own time goes on. */
  #goOn(): void {
    // It threw in the meantime.
    if (this.#ended === undefined) return
    this.#run()
  }

  #run(): void {
    const now = performance.now()
    this.#links.current = this
    this.#since = now
    this.#chain.guard.expect(this.deadline(now))
  }

  /** Fails the call and rejects. If the link does not await it, the unhandled rejection must not end the process. */
  #violation(code: 'NEXT_TWICE' | 'NEXT_AFTER_REPLY'): Promise<never> {
    const error = pluginError(this.name, 'handle', new ContractViolation(code))
    this.#chain.exchange.fail(error)
    const rejected = Promise.reject(error)
    rejected.catch(() => undefined)
    return rejected
  }
}

/** `ctx.state` of every link: the part of a call that the plugin API documents. It gives no access to the rest of core. */
export class LinkState implements CallState {
  readonly #exchange: Exchange
  #reply: Reply | undefined

  constructor(exchange: Exchange) {
    this.#exchange = exchange
  }

  /** The exchange of a request. Plugins cannot call it: no state leads to its class. */
  static exchangeOf({ state }: Pick<ParameterizedContext, 'state'>): Exchange {
    return (state as LinkState).#exchange
  }

  get id(): string {
    return this.#exchange.id
  }

  get endpoint(): EndpointName {
    return this.#exchange.endpointName as EndpointName
  }

  get callsModel(): boolean {
    return this.#exchange.callsModel
  }

  get principal(): Principal | undefined {
    return this.#exchange.principal
  }

  /** Its ids are keys of limits, caches and rows. */
  set principal(principal: Principal | undefined) {
    if (principal !== undefined && (typeof principal.keyId !== 'string' || typeof principal.account !== 'string'))
      throw new ContractViolation('BAD_PRINCIPAL')
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
    this.#reply ??= replyOf(this.#exchange.links!)
    return this.#reply
  }

  get served(): Served | undefined {
    return this.#exchange.attempts!.served?.by
  }

  get attempts(): readonly AttemptRecord[] {
    return this.#exchange.attempts!.soFar
  }

  get cost(): Cost | undefined {
    const { stream, charge } = this.#exchange
    return stream === undefined ? charge?.cost : undefined
  }

  get trace(): RouteTrace | undefined {
    return this.#exchange.attempts!.routeTrace
  }

  get failure(): GatewayError | undefined {
    return this.#exchange.failure
  }

  get signal(): AbortSignal {
    return this.#exchange.signal
  }

  call(): Promise<Call> {
    return this.#exchange.links!.current.outside(() => this.#exchange.call())
  }

  elapsed(): { readonly total: number; readonly overhead: number } {
    const { total, overhead } = this.#exchange.times.elapsed()
    return { total, overhead }
  }

  onRetry(fn: (used: Usage) => void | Promise<void>): void {
    this.#exchange.links!.onRetry(fn)
  }

  onSettled(fn: (outcome: Outcome) => void | Promise<void>): void {
    this.#exchange.links!.onSettled(fn)
  }
}

function replyOf(links: CallLinks): Reply {
  return Object.freeze<Reply>({
    send: (reply) => links.replyWith(reply),
    transform: (transform: ReplyTransform) => links.transform(transform),
  })
}

closeFacade(LinkState)

/** The exchange of a request's `ctx.state`. */
export const { exchangeOf } = LinkState
