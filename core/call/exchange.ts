import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { ParameterizedContext } from 'koa'
import type { Linked } from '../async/linked-list.ts'
import type { Config } from '../config/config.ts'
import { CLIENT_GONE } from '../dispatch/attempt.ts'
import { Relay } from '../dispatch/relay.ts'
import { asGatewayError, GatewayError } from '../errors.ts'
import type { Keeping } from '../kept/keeping.ts'
import type { PriceList } from '../limits/prices/price-list.ts'
import { outcomeKind } from '../observe/call-log.ts'
import { ContractViolation, PluginFailure, type PluginPhase, pluginError } from '../plugins/faults.ts'
import { type ClientProtocol, type ClientWire, CONVERSATIONS, OPENAI_WIRE } from '../protocol/client-protocol.ts'
import type { RequestCheck } from '../protocol/validation.ts'
import type { ModelListing } from '../routing/listing.ts'
import type { RoutingTable } from '../routing/table.ts'
import type {
  Call,
  ChatChunk,
  ChatCompletion,
  EndpointName,
  LinkRecord,
  ModelId,
  Outcome,
  Principal,
  ReplyTransform,
  Usage,
} from '../sdk/api.ts'
import type { CallTrace, Tracer } from '../telemetry/call-trace.ts'
import { newRequestId } from '../text/ids.ts'
import type { LinkTransform } from '../upstream/readers/reader.ts'
import type { CallJournal } from '../usage/call-journal.ts'
import { type AttemptCharge, BETA_HEADER, CallAttempts, CallCharge, CallTimes } from './attempts.ts'
import { type BodyServices, CallBody } from './body.ts'

/** The generation of a call, held until `release`. */
export interface HeldGeneration {
  readonly table: RoutingTable
  readonly prices: PriceList
  readonly models: ModelListing
  readonly config: Pick<Config, 'budgets'>
  readonly keeping: Keeping | undefined
  release(): void
}

/** An endpoint of `/v1`, called by the chain. */
export interface Endpoint {
  readonly name: EndpointName
  /** The check of its request bodies. */
  readonly check: RequestCheck | 'no body'
  readonly form?: 'always' | 'maybe' | undefined
  /** How upstreams without the endpoint serve it, by chat completions. */
  readonly protocol?: ClientProtocol | undefined
  /** Absent: OpenAI's. */
  readonly wire?: ClientWire | undefined
  /** True if the gateway keeps replies, where the operator says so. */
  readonly keepsReplies?: true | undefined
  /** True if its calls may go on with what the gateway keeps. */
  readonly continues?: true | undefined
  /** Serves a request. Resolves when the head of the reply may be sent: for a stream, possibly long before its end. */
  serve(exchange: Exchange, ctx: ParameterizedContext): Promise<void>
}

/** A call that is a turn on a socket: its request is a message, and so are its events. */
export interface Turn {
  readonly wire: ClientWire
  /** False if it only prepares the state of its socket: it has no answer, and reaches no upstream. */
  readonly generates: boolean
  /** What is wrong with its message: the call gets this error once its caller is known. */
  readonly refusal: GatewayError | undefined
}

/** The state of a reply after its end. */
export type SentReply = Pick<ServerResponse, 'statusCode' | 'writableFinished'>

/** The end of a call that has gone on without its client. */
export interface CallEnd extends SentReply {
  readonly error: GatewayError | undefined
}

/** What the client gets. */
export type Reply =
  | { readonly kind: 'whole'; readonly body: Buffer }
  | { readonly kind: 'stream'; readonly stream: Relay }
  /** `stream`: the one that the error ends, or whose place it takes since its head is not sent. */
  | { readonly kind: 'error'; readonly error: GatewayError; readonly stream: Relay | undefined }

/** The services of an exchange at an endpoint of `/v1`. */
export interface ExchangeServices extends BodyServices {
  /** Milliseconds of silence in a stream before a comment is sent. */
  readonly heartbeat: number
  /** Where calls are noted as soon as their cost is known. */
  readonly journal?: CallJournal | undefined
  /** Absent: calls are not traced. */
  readonly tracer?: Tracer | undefined
}

/** A link of the call: its own time, and its async context, to which all belongs that its code starts. */
export interface RunningLink {
  /** The plugin's name. */
  readonly name: string
  /** Its own time so far, also if it hangs when its client disconnects. `now`: monotonic milliseconds. */
  record(now: number): LinkRecord
  /** When its time is over; infinite while it waits for `next`. */
  deadline(now: number): number
  /** The link fails its call, and is over. */
  fail(thrown: unknown): void
  /** Calls code of the link in its context. */
  inside<Result>(work: () => Result): Result
  /** What code of the link makes while it is read. */
  itemsInside<Item>(items: Iterable<Item> | AsyncIterable<Item>): Iterable<Item> | AsyncIterable<Item>
  /** Calls code of the gateway, which the link has called. */
  outside<Result>(work: () => Result): Result
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

/** Runs settled hooks, and reports what plugins do after the end of a call. */
export interface HookRunner {
  /** Undefined if the hook is synchronous. */
  run(hook: SettledHook, outcome: Outcome): Promise<void> | undefined
  /** A plugin failed after the call with this id was reported. */
  failedLate(id: string, failure: PluginFailure): void
}

/** The links of one call, and what they ask of it: a reply of their own, transforms, hooks. */
export class CallLinks {
  readonly #exchange: Exchange
  /** Those that ran, outermost first. */
  readonly runs: RunningLink[] = []
  /** The one that runs, to attribute replies and hooks. Set before the first link runs. */
  current!: RunningLink
  reply: LinkReply | undefined
  /** Innermost link first: a reply passes the chain from inside to outside. */
  readonly transforms: LinkTransform[] = []
  readonly settledHooks: SettledHook[] = []
  readonly #retryHooks: RetryHook[] = []
  /** Links can no longer change the call or its reply. */
  #isDecided = false
  #settled: { readonly by: HookRunner; readonly outcome: Outcome } | undefined

  constructor(exchange: Exchange) {
    this.#exchange = exchange
  }

  /** From now on links can no longer change the call or choose its upstream or reply. */
  decide(): void {
    this.#isDecided = true
  }

  /** Sets the current link's own reply. */
  replyWith(reply: LinkReply['reply']): void {
    this.#expectOpen('SEND_AFTER_NEXT')
    if (!this.#exchange.callsModel) throw new ContractViolation('NO_BODY')
    this.reply = { link: this.current, reply }
  }

  transform(transform: ReplyTransform): void {
    this.#expectOpen('TRANSFORM_AFTER_NEXT')
    // Other endpoints reply with neither completions nor chunks.
    if (!CONVERSATIONS.has(this.#exchange.endpointName)) return
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
    if (this.#isDecided || this.#exchange.failure !== undefined) throw new ContractViolation(violation)
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
  async beforeRetry(used: Usage): Promise<void> {
    for (const { link, fn } of this.#retryHooks) {
      try {
        await link.inside(() => fn(used))
      } catch (thrown) {
        throw this.#exchange.linkError(link.name, 'handle', thrown)
      }
    }
  }

  /** All hooks have run: what they hold is not kept with the connection. */
  release(): void {
    this.settledHooks.length = 0
    this.#retryHooks.length = 0
    this.transforms.length = 0
    this.reply = undefined
  }

  /** The call is settled: hooks that are added from now on run at once. */
  settle(by: HookRunner, outcome: Outcome): void {
    this.#settled = { by, outcome }
  }

  /** A link has lost an error, or a promise that was rejected. It ends the call in any state; after its end it is only reported. */
  lost(failure: PluginFailure): void {
    const error = new GatewayError('plugin_error', { cause: failure })
    this.#exchange.fail(error)
    this.#exchange.end(error)
  }

  /** Reports a failure after the call was settled. Returns false before. */
  report(failure: PluginFailure): boolean {
    this.#settled?.by.failedLate(this.#exchange.id, failure)
    return this.#settled !== undefined
  }
}

/** How the connection of a call ended, at that moment. */
interface Closed {
  readonly kind: Outcome['kind']
  readonly status: number
  readonly error: GatewayError | undefined
}

/**
 * One request and its reply: core's record of them, from the first byte until settled. `reply` is what the client gets, and `signal`
 * stops what waits for the call. It ends with its connection (`close`), and is settled when it uses no upstream any more.
 */
export class Exchange implements Linked {
  previous: this | undefined
  next: this | undefined
  readonly id: string
  /** Undefined for a call by HTTP. */
  readonly turn: Turn | undefined
  readonly times = new CallTimes()
  readonly tags: Record<string, string> = {}
  readonly upstreamHeaders: Record<string, string> = {}
  principal: Principal | undefined

  /** The request's endpoint of `/v1`, and what belongs to its call there; undefined if it reached no endpoint. */
  endpoint: Endpoint | undefined
  generation: HeldGeneration | undefined
  /** Of the client's request. */
  headers: IncomingHttpHeaders = NO_HEADERS
  attempts: CallAttempts | undefined
  #services: ExchangeServices | undefined
  #body: CallBody | undefined
  links: CallLinks | undefined

  #reply: Reply | undefined
  /** Failures of plugins, whether they failed the call or not. */
  readonly pluginFailures: PluginFailure[] = []
  readonly #ending = new AbortController()
  /** Resolves or rejects when the call no longer uses any upstream; undefined if it uses none. */
  dispatching: Promise<unknown> | undefined
  /** Present if the call goes on when its client has left: resolves to its end. */
  detached: Promise<CallEnd> | undefined
  /** Removes the call from the in-flight metric. */
  onClosed: (() => void) | undefined
  #closed: Closed | undefined

  constructor(id = newRequestId(), turn?: Turn) {
    this.id = id
    this.turn = turn
  }

  /** Starts the request's call to an endpoint. */
  begin(endpoint: Endpoint, generation: HeldGeneration, ctx: ParameterizedContext, services: ExchangeServices): void {
    const { headers } = ctx.req
    const { journal, tracer } = services
    this.endpoint = endpoint
    this.generation = generation
    this.headers = headers
    this.#services = services
    this.#body = new CallBody(this, ctx, services)
    this.links = new CallLinks(this)
    this.attempts = new CallAttempts(this, {
      charge: new CallCharge(this, { prices: generation.prices, journal }),
      trace: tracer?.begin(headers),
      hasForeignBetas: headers[BETA_HEADER] !== undefined && endpoint.protocol?.headers.includes(BETA_HEADER) !== true,
    })
  }

  get endpointName(): Outcome['endpoint'] {
    return this.endpoint?.name ?? 'none'
  }

  /** Whether its endpoint calls a model, by a body. */
  get callsModel(): boolean {
    return this.endpoint !== undefined && this.endpoint.check !== 'no body'
  }

  /** What the client gets from the gateway itself. */
  get wire(): ClientWire {
    return this.turn?.wire ?? this.endpoint?.wire ?? OPENAI_WIRE
  }

  get trace(): CallTrace | undefined {
    return this.attempts?.trace
  }

  /** What the call has cost so far. */
  get charge(): AttemptCharge | undefined {
    return this.attempts?.charge.total
  }

  /** Parameters that the provider dropped, for the reply's head. */
  get dropped(): readonly string[] {
    return this.attempts?.served?.dropped ?? NONE
  }

  /** The tokens to which a budget has capped the answer, for the reply's head. */
  get cap(): number | undefined {
    return this.attempts?.served?.cap
  }

  /** The requested model; undefined if the body is unread or has none. */
  get model(): ModelId | undefined {
    try {
      return this.#body?.call?.model
    } catch {
      return undefined
    }
  }

  /** Reads and checks the body on the first call. Rejects with a GatewayError (408) once the call is released. */
  call(): Promise<Call> {
    return this.#body?.read() ?? Promise.reject(new GatewayError('request_timeout'))
  }

  /** Milliseconds between two monotonic times in which the call's body was being read. */
  readingMs(from: number, to: number): number {
    return this.#body?.readingMs(from, to) ?? 0
  }

  /** From now on links can no longer change the call or choose its upstream or reply. */
  decide(): void {
    this.links!.decide()
    this.#body?.decide()
  }

  /** Notes in the journal what the attempt under way would be charged if this process were killed at `now`: again after a second, until it ends. */
  noteAttempt(now: number): void {
    this.attempts?.note(now)
  }

  get reply(): Reply | undefined {
    return this.#reply
  }

  /** The call's failure: an error in place of its reply, or at the end of its stream. */
  get failure(): GatewayError | undefined {
    return this.#reply?.kind === 'error' ? this.#reply.error : undefined
  }

  /** The stream of the reply, also of one that has failed. */
  get stream(): Relay | undefined {
    return this.#reply === undefined || this.#reply.kind === 'whole' ? undefined : this.#reply.stream
  }

  /** Sets the reply, once. A call that has failed stays so. */
  answer(reply: Exclude<Reply, { kind: 'error' }>): void {
    const { failure } = this
    const stream = reply.kind === 'stream' ? reply.stream : undefined
    this.#reply = failure === undefined ? reply : { kind: 'error', error: failure, stream }
  }

  /** Opens the stream to the client. Not of a closed call, which would leave it open for ever. */
  openStream(wire = this.wire): Relay {
    const stream = new Relay(this.#services!.heartbeat, wire)
    this.answer({ kind: 'stream', stream })
    return stream
  }

  /** The client gets an error: in place of its reply or, if the head of a stream is sent, at its end. The first error is kept. */
  fail(thrown: unknown): void {
    const error = asGatewayError(thrown)
    if (error.cause instanceof PluginFailure) this.#note(error.cause)
    if (this.#closed !== undefined) return
    const { stream } = this
    if (this.failure === undefined) this.#reply = { kind: 'error', error, stream }
    if (stream?.opened) stream.fail(error)
  }

  /**
   * The error of the call for what code of a link has thrown. If the signal of the call has ended that code, it is the reason of the signal, and
   * no fault of the link: its `fetch` rejects so.
   */
  linkError(link: string, phase: PluginPhase, thrown: unknown): GatewayError {
    const { aborted, reason } = this.signal
    const isEnd = aborted && (thrown === reason || (thrown instanceof Error && thrown.name === 'AbortError'))
    return isEnd ? asGatewayError(reason) : pluginError(link, phase, thrown)
  }

  /** Notes a plugin's failure, to be reported with the call, or at once if that is reported already. */
  #note(failure: PluginFailure): void {
    if (this.links?.report(failure) !== true && !this.pluginFailures.includes(failure)) this.pluginFailures.push(failure)
  }

  /** Aborted when the call must end, with the reason: its client has gone, its time is over, a link or the gateway ends it. */
  get signal(): AbortSignal {
    return this.#ending.signal
  }

  /** Ends what waits for the call, and its attempt. The first reason is kept. */
  end(reason: GatewayError | typeof CLIENT_GONE): void {
    this.#ending.abort(reason)
  }

  /** The reply is complete, or the client disconnected. */
  get closed(): boolean {
    return this.#closed !== undefined
  }

  /** The client of a detached call has its reply, or has left. A link that has failed since then ends the call. */
  leave(): void {
    this.stream?.close()
    if (this.failure !== undefined) this.end(this.failure)
  }

  /** Called after the last byte or a disconnect: ends all running work, which is over when `dispatching` settles. */
  close(response: SentReply): void {
    const { failure } = this
    const disconnected = !response.writableFinished && failure === undefined
    this.#closed = {
      kind: disconnected ? 'client_closed' : outcomeKind(failure),
      status: disconnected ? 499 : response.statusCode,
      error: failure,
    }
    this.onClosed?.()
    this.stream?.close()
    this.end(CLIENT_GONE)
  }

  /** What has come of a closed call, once no work runs. */
  get outcome(): Outcome {
    const now = performance.now()
    const { stream, charge, attempts } = this
    const { kind, status, error } = this.#closed!
    return {
      kind,
      status,
      error,
      endpoint: this.endpointName,
      model: this.model,
      stream: this.#body?.call?.stream ?? false,
      served: attempts?.served?.by,
      attempts: attempts?.ended ?? NONE,
      links: this.links?.runs.map((run) => run.record(now)) ?? NONE,
      usage: charge?.usage,
      usageEstimated: charge?.estimated ?? false,
      cost: charge?.cost,
      times: {
        ...this.times.elapsed(),
        ...(stream?.firstByteAt !== undefined && { firstByte: stream.firstByteAt - this.times.startedAt }),
      },
    }
  }

  /**
   * Called when all settled hooks have run: releases the generation, and the bytes of request and reply. The socket refers to its last
   * exchange: an idle connection would keep them in memory, and the garbage collector would promote them.
   */
  release(): void {
    const { failure } = this
    this.generation?.release()
    this.headers = NO_HEADERS
    this.#body?.release()
    this.#body = undefined
    this.attempts?.release()
    this.links?.release()
    this.#reply = failure && { kind: 'error', error: failure, stream: undefined }
  }
}

const NONE: readonly never[] = []
const NO_HEADERS: IncomingHttpHeaders = {}
