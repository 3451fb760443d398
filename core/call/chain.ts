import type { Middleware, ParameterizedContext } from 'koa'
import { Deadlines, type Expiring } from '../async/event-loop.ts'
import type { When } from '../config/schema/when.ts'
import { GatewayError } from '../errors.ts'
import { closeFacade } from '../plugins/facade.ts'
import { ContractViolation, PluginFailure, type PluginTimer, pluginError } from '../plugins/faults.ts'
import { inLink, itemsInLink, type LinkOfCall, outsideLink } from '../plugins/link-context.ts'
import { CONVERSATIONS } from '../protocol/client-protocol.ts'
import type {
  AttemptRecord,
  Call,
  CallState,
  ChatChunk,
  ChatCompletion,
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
import type { LinkTransform } from '../upstream/readers/reader.ts'
import type { Exchange } from './exchange.ts'
import { fits } from './link-condition.ts'
import { sendLinkReply } from './link-reply.ts'
import type { Settlement } from './settle.ts'

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
  readonly timer: PluginTimer
  readonly limitMs: number
  readonly deadlines: Deadlines<CallLinks>

  /** `limitMs`: a link's own time, without `next`, after which its call fails, in milliseconds. */
  constructor(timer: PluginTimer, limitMs: number) {
    this.timer = timer
    this.limitMs = limitMs
    this.deadlines = new Deadlines(Math.min(TOLERANCE_MS, limitMs))
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
  async run(exchange: Exchange, ctx: ParameterizedContext): Promise<void> {
    const { deadlines } = this.#guard
    const links = new CallLinks(this.#links, this.#guard, exchange, ctx)
    exchange.links = links
    deadlines.add(links)
    await links.from(0)
    deadlines.remove(links)
  }
}

/** The reply of a link instead of an upstream's. */
export interface LinkReply {
  readonly link: RunningLink
  readonly reply: ChatCompletion | Iterable<ChatChunk> | AsyncIterable<ChatChunk>
}

/** A function of a link that runs when its call is settled. */
export interface SettledHook {
  readonly link: RunningLink
  readonly fn: (outcome: Outcome) => void | Promise<void>
}

/** A function of a link that runs before an attempt that follows those which have used tokens. */
interface RetryHook {
  readonly link: RunningLink
  readonly fn: (used: Usage) => void | Promise<void>
}

/**
 * The links of one call: runs each around the next one, and the last around the endpoint. A link can fail only its own call, and its own time
 * is measured and limited. Also what links ask of the call: a reply of their own, transforms, hooks.
 */
export class CallLinks implements Expiring {
  previous: this | undefined
  next: this | undefined
  readonly exchange: Exchange
  readonly ctx: ParameterizedContext
  readonly guard: LinkGuard
  readonly #links: readonly ChainLink[]
  /** Those that ran, outermost first. */
  readonly runs: RunningLink[] = []
  /** The one that runs, to attribute replies and hooks. */
  current!: RunningLink
  reply: LinkReply | undefined
  /** Innermost link first: a reply passes the chain from inside to outside. */
  readonly transforms: LinkTransform[] = []
  readonly settledHooks: SettledHook[] = []
  readonly #retryHooks: RetryHook[] = []
  /** Links can no longer change the call or its reply. */
  #isDecided = false
  #settled: { readonly by: Settlement; readonly outcome: Outcome } | undefined

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
    const run = new RunningLink(this, link)
    this.runs.push(run)
    return run.begin(at + 1)
  }

  /** A link with `when` runs only for calls that fit it. */
  async #enterIf(when: When, link: ChainLink, at: number): Promise<void> {
    const { exchange, ctx } = this
    const { endpointName, principal, tags } = exchange
    const hasModel = exchange.endpoint!.check !== 'no body'
    const call = { endpointName, principal, tags, hasModel, model: async () => (await exchange.call()).model }
    try {
      if (!(await fits(when, call, ctx.headers))) return this.from(at + 1)
    } catch (error) {
      return exchange.fail(error)
    }
    return this.#enter(link, at)
  }

  async #serve(): Promise<void> {
    try {
      await this.exchange.endpoint!.serve(this.exchange, this.ctx)
    } catch (error) {
      this.exchange.fail(error)
    }
  }

  /** From now on links can no longer change the call or choose its upstream or reply. */
  decide(): void {
    this.#isDecided = true
  }

  /** Sets the current link's own reply. */
  replyWith(reply: LinkReply['reply']): void {
    this.#expectOpen('SEND_AFTER_NEXT')
    if (this.exchange.endpoint?.check === 'no body') throw new ContractViolation('NO_BODY')
    this.reply = { link: this.current, reply }
  }

  transform(transform: ReplyTransform): void {
    this.#expectOpen('TRANSFORM_AFTER_NEXT')
    // Other endpoints reply with neither completions nor chunks.
    if (!CONVERSATIONS.has(this.exchange.endpointName)) return
    const link = this.current
    const { chunk, completion } = transform
    this.transforms.unshift({
      link: link.name,
      transform: {
        ...(chunk && { chunk: (each) => link.inside(() => chunk.call(transform, each)) }),
        ...(completion && { completion: (whole) => link.inside(() => completion.call(transform, whole)) }),
      },
    })
  }

  #expectOpen(violation: 'SEND_AFTER_NEXT' | 'TRANSFORM_AFTER_NEXT'): void {
    if (this.#isDecided || this.exchange.failure !== undefined) throw new ContractViolation(violation)
  }

  onSettled(fn: SettledHook['fn']): void {
    const hook = { link: this.current, fn }
    // A link may still run when its disconnected call is settled.
    if (this.#settled === undefined) this.settledHooks.push(hook)
    else void this.#settled.by.run(hook, this.#settled.outcome)
  }

  onRetry(fn: RetryHook['fn']): void {
    this.#retryHooks.push({ link: this.current, fn })
  }

  /** Another attempt follows those that have used tokens. Rejects with the refusal of a link. */
  async retries(used: Usage): Promise<void> {
    for (const { link, fn } of this.#retryHooks) {
      try {
        await link.inside(() => fn(used))
      } catch (thrown) {
        throw pluginError(link.name, 'handle', thrown)
      }
    }
  }

  /** The call is settled: hooks that are added from now on run at once. */
  settle(by: Settlement, outcome: Outcome): void {
    this.#settled = { by, outcome }
  }

  /** A link has lost an error, or a promise that was rejected. It ends the call in any state; after its end it is only reported. */
  lost(failure: PluginFailure): void {
    const { exchange } = this
    if (this.#settled !== undefined) {
      this.#settled.by.failedLate(exchange.id, failure)
      return
    }
    const error = new GatewayError('plugin_error', { cause: failure })
    exchange.fail(error)
    exchange.end(error)
  }

  get deadline(): number {
    const now = performance.now()
    return this.runs.reduce((earliest, run) => Math.min(earliest, run.deadline(now)), Number.POSITIVE_INFINITY)
  }

  onDeadline(): void {
    const now = performance.now()
    for (const run of this.runs) if (run.deadline(now) <= now) run.fail(new ContractViolation('TOOK_TOO_LONG'))
  }
}

/** One run of a link in a call: its handler, its `next`, its own time, and its async context, to which all belongs that its code starts. */
export class RunningLink implements LinkOfCall {
  readonly #call: CallLinks
  readonly #link: ChainLink
  /** Resolves what `next()` of the link around it awaits; undefined once it is over. */
  #ended: (() => void) | undefined
  #ownMs = 0
  /** Start of its current own time; undefined while it waits for `next`, and after its end. */
  #since: number | undefined
  /** The rest of the chain, if it has called `next`. */
  #rest: Promise<void> | undefined

  constructor(call: CallLinks, link: ChainLink) {
    this.#call = call
    this.#link = link
  }

  /** The plugin's name. */
  get name(): string {
    return this.#link.name
  }

  /** Calls the handler, whose `next` goes on with the link at `following`. Resolves when the link is over, whatever it does. */
  begin(following: number): Promise<void> {
    return new Promise((ended) => {
      const { ctx } = this.#call
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

  /** Calls code of the link in its context. */
  inside<Result>(work: () => Result): Result {
    return this.#link.isBuiltIn ? work() : inLink(this, work)
  }

  /** What code of the link makes while it is read. */
  itemsInside<Item>(items: Iterable<Item> | AsyncIterable<Item>): Iterable<Item> | AsyncIterable<Item> {
    return this.#link.isBuiltIn ? items : itemsInLink(this, items)
  }

  /** Calls code of the gateway, which the link has called. */
  outside<Result>(work: () => Result): Result {
    return this.#link.isBuiltIn ? work() : outsideLink(work)
  }

  lost(thrown: unknown): void {
    this.#call.lost(new PluginFailure(this.name, 'background', thrown))
    this.#end()
  }

  /** The link fails its call, and is over. */
  fail(thrown: unknown): void {
    if (this.#ended === undefined) return
    this.#call.exchange.fail(pluginError(this.name, 'handle', thrown))
    this.#end()
  }

  /** When its time is over; infinite while it waits for `next`. */
  deadline(now: number): number {
    return this.#since === undefined ? Number.POSITIVE_INFINITY : now + this.#call.guard.limitMs - this.#timeAt(now)
  }

  /** Its own time so far, also if it hangs when its client disconnects. `now`: monotonic milliseconds. */
  record(now: number): LinkRecord {
    const answered = this.#call.reply !== undefined && this.#rest === undefined
    return { name: this.name, ms: this.#timeAt(now), ...(answered && { answered }) }
  }

  /** Its handler is done: the link is over if the rest of the chain is, or its own reply. */
  #handled(): void {
    const { exchange, ctx } = this.#call
    if (this.#ended === undefined) return
    // If it does not await next(), the head must not be sent too early.
    if (this.#rest !== undefined && this.#since === undefined) void this.#rest.then(() => this.#handled())
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
    this.#call.guard.timer.ran(this.name, 'handle', this.#ownMs)
    ended()
  }

  #stop(now: number): void {
    this.#ownMs = this.#timeAt(now)
    this.#since = undefined
  }

  /** Without the time in which the body is read: a client may send it slowly. */
  #timeAt(now: number): number {
    const since = this.#since
    return since === undefined ? this.#ownMs : this.#ownMs + now - since - this.#call.exchange.readingMs(since, now)
  }

  /** Resolves even if the call fails, so that every link can set headers of every reply. */
  #next(following: number): Promise<void> {
    // Its call was passed on, answered or has failed.
    if (this.#ended === undefined) return Promise.resolve()
    if (this.#rest !== undefined) return this.#violation('NEXT_TWICE')
    if (this.#call.reply !== undefined) return this.#violation('NEXT_AFTER_REPLY')
    this.#stop(performance.now())
    this.#rest = this.outside(() => this.#call.from(following).then(() => this.#goOn()))
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
    this.#call.current = this
    this.#since = now
    this.#call.guard.deadlines.expect(this.deadline(now))
  }

  /** Fails the call and rejects. If the link does not await it, the unhandled rejection must not end the process. */
  #violation(code: 'NEXT_TWICE' | 'NEXT_AFTER_REPLY'): Promise<never> {
    const error = pluginError(this.name, 'handle', new ContractViolation(code))
    this.#call.exchange.fail(error)
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
