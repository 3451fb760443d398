import type { ServerResponse } from 'node:http'
import type { ParameterizedContext } from 'koa'
import type { Linked } from '../async/event-loop.ts'
import { GatewayError } from '../errors.ts'
import { ContractViolation, PluginFailure } from '../plugins/faults.ts'
import type { CallContext, ClientCall } from '../protocol/call.ts'
import type { RequestCheck } from '../protocol/validation.ts'
import type { Dispatch, DispatchListener, Tokens } from '../routing/dispatch.ts'
import type { RoutingTable } from '../routing/table.ts'
import type {
  AttemptRecord,
  ChatChunk,
  ChatCompletion,
  EndpointName,
  LinkRecord,
  ModelId,
  Outcome,
  OutcomeKind,
  Principal,
  ReplyTransform,
  RouteTrace,
  Served,
  Usage,
} from '../sdk/api.ts'
import { newRequestId } from '../text/ids.ts'
import type { LinkTransform } from '../upstream/readers/reader.ts'
import type { CallReader } from './body.ts'
import { Relay, type RelayTimes } from './relay.ts'

/** The generation that serves a call until `release`. */
export interface HeldGeneration {
  readonly table: RoutingTable
  release(): void
}

/** A link that runs in the call, and its own time. */
export interface MeasuredLink {
  /** The plugin's name. */
  readonly name: string
  /** `now`: monotonic milliseconds. */
  record(now: number): LinkRecord
}

/** An endpoint of `/v1`: what stands behind the chain. */
export interface Endpoint {
  readonly name: EndpointName
  /** Checks the body of its requests. */
  readonly check: RequestCheck | 'no body'
  /** Serves a request. Resolves when the head of the reply may go out, which for a stream may be long before its end. */
  serve(exchange: Exchange, ctx: ParameterizedContext): Promise<void>
}

/** A function that a link wants to run when its call is settled. */
export interface SettledHook {
  /** The link's name. */
  readonly link: string
  readonly fn: (outcome: Outcome) => void | Promise<void>
}

/** Runs settled hooks. */
export interface HookRunner {
  /** Undefined where the hook is done at once. */
  run(hook: SettledHook, outcome: Outcome): Promise<void> | undefined
}

/** What is asked of a reply when it is over. */
export type SentReply = Pick<ServerResponse, 'statusCode' | 'writableFinished'>

/** What a link answered with, instead of the upstream. */
export interface LinkReply {
  readonly link: string
  readonly reply: ChatCompletion | Iterable<ChatChunk> | AsyncIterable<ChatChunk>
}

/** What an exchange at an endpoint of `/v1` works with. */
export interface ExchangeServices {
  readonly reader: CallReader
  readonly relayTimes: RelayTimes
}

/** One request and its reply: all that core knows of it, from its first byte until it is settled. */
export class Exchange implements DispatchListener, Linked {
  previous: this | undefined
  next: this | undefined
  readonly id: string
  readonly tags: Record<string, string> = {}
  readonly upstreamHeaders: Record<string, string> = {}
  principal: Principal | undefined

  /** The endpoint of `/v1` that was reached, and the generation that serves it; undefined where none was. */
  endpoint: Endpoint | undefined
  generation: HeldGeneration | undefined

  /** The link that runs, to know which one asks for what. */
  currentLink = 'core'
  /** The links that ran, the outermost first. */
  readonly linkRuns: MeasuredLink[] = []
  /** The innermost link's first: a reply passes the chain from bottom to top. */
  readonly transforms: LinkTransform[] = []
  readonly settledHooks: SettledHook[] = []
  linkReply: LinkReply | undefined

  /** The attempts that have ended. */
  readonly attempts: AttemptRecord[] = []
  served: Served | undefined
  /** Parameters that the provider left out, for the reply's head. */
  dropped: readonly string[] = []
  usage: Usage | undefined
  usageEstimated = false

  /** The whole reply to the client, once there is one. */
  body: Buffer | undefined
  /** The stream to the client, once there is one. */
  stream: Relay | undefined
  /** Why the call failed. */
  failure: GatewayError | undefined
  /** What plugins did wrong, whether the call failed for it or not. */
  readonly pluginFailures: PluginFailure[] = []
  /** Tells the metrics that the call is no longer in flight. */
  onClosed: (() => void) | undefined

  readonly #startedAt = performance.now()
  /** Milliseconds that the call has waited for upstreams, before the wait under way. */
  #waitedMs = 0
  #waitingSince: number | undefined
  /** The last wait. */
  #servedMs = 0
  /** Until the head of a stream: from there on time is the upstream's and the client's. */
  #overheadAtHead: number | undefined
  #ctx: ParameterizedContext | undefined
  #services: ExchangeServices | undefined
  #reading: Promise<ClientCall> | undefined
  #callContext: CallContext | undefined
  #call: ClientCall | undefined
  #isDecided = false
  #dispatch: Dispatch | undefined
  #abort: AbortController | undefined
  #firstByteMs: number | undefined
  #closed = false
  #hookRunner: HookRunner | undefined
  #outcome: Outcome | undefined

  constructor(id = newRequestId()) {
    this.id = id
  }

  /** The request has reached an endpoint of `/v1`. */
  begin(endpoint: Endpoint, generation: HeldGeneration, ctx: ParameterizedContext, services: ExchangeServices): void {
    this.endpoint = endpoint
    this.generation = generation
    this.#ctx = ctx
    this.#services = services
  }

  get endpointName(): Outcome['endpoint'] {
    return this.endpoint?.name ?? 'none'
  }

  get signal(): AbortSignal {
    this.#abort ??= new AbortController()
    if (this.#closed) this.#abort.abort()
    return this.#abort.signal
  }

  /** The client is gone, or its reply is whole. */
  get closed(): boolean {
    return this.#closed
  }

  /** The model asked for, where the body was read and names one. */
  get model(): ModelId | undefined {
    try {
      return this.#call?.model
    } catch {
      return undefined
    }
  }

  /** Reads and checks the body when first asked for. */
  call(): Promise<ClientCall> {
    this.#reading ??= this.#read()
    return this.#reading
  }

  /** A link answers the call itself. */
  replyWith(reply: LinkReply['reply']): void {
    if (this.#isDecided || this.failure !== undefined) throw new ContractViolation('SEND_AFTER_NEXT')
    if (this.endpoint?.check === 'no body') throw new ContractViolation('NO_BODY')
    this.linkReply = { link: this.currentLink, reply }
  }

  transform(transform: ReplyTransform): void {
    if (this.#isDecided || this.failure !== undefined) throw new ContractViolation('TRANSFORM_AFTER_NEXT')
    // What other endpoints reply is neither a completion nor made of chunks.
    if (this.endpointName !== 'chat.completions') return
    this.transforms.unshift({ link: this.currentLink, transform })
  }

  /** Core takes the call over: links can no longer change it, or decide who answers it. */
  decide(): void {
    this.#isDecided = true
    if (this.#callContext !== undefined) this.#callContext.decided = true
  }

  enterLink(run: MeasuredLink): void {
    this.currentLink = run.name
    this.linkRuns.push(run)
  }

  onSettled(fn: SettledHook['fn']): void {
    const hook = { link: this.currentLink, fn }
    // A link that was waiting when its client left may ask only now.
    if (this.#hookRunner === undefined) this.settledHooks.push(hook)
    else void this.#hookRunner.run(hook, this.#outcome!)
  }

  /** Milliseconds since the request arrived, and of them those in the gateway itself, until the reply's head. */
  elapsed(): { readonly total: number; readonly overhead: number } {
    const total = performance.now() - this.#startedAt
    return { total, overhead: this.#overheadAtHead ?? Math.max(total - this.#waitedMs - this.#waiting(), 0) }
  }

  /** Milliseconds of the wait under way; 0 if the call waits for no upstream. */
  #waiting(): number {
    return this.#waitingSince === undefined ? 0 : performance.now() - this.#waitingSince
  }

  #stopWaiting(): void {
    this.#waitedMs += this.#waiting()
    this.#waitingSince = undefined
  }

  /** The call is on its way to upstreams. */
  dispatched(dispatch: Dispatch): void {
    this.#dispatch = dispatch
  }

  get trace(): RouteTrace | undefined {
    return this.#dispatch?.trace
  }

  /** Opens the stream to the client. `onHeadDue`: called when the head should go out although nothing is committed. */
  openStream(onHeadDue: () => void): Relay {
    const onFirstByte = (): void => {
      this.#firstByteMs = this.elapsed().total
    }
    this.stream = new Relay(this.#services!.relayTimes, { onHeadDue, onFirstByte })
    return this.stream
  }

  onWait(): void {
    this.#waitingSince = performance.now()
  }

  onAttemptEnded(record: AttemptRecord, tokens: Tokens | undefined): void {
    this.attempts.push(record)
    this.#stopWaiting()
    if (tokens === undefined) return
    this.usage = tokens.usage
    this.usageEstimated = tokens.estimated
  }

  onServed(served: Served, dropped: readonly string[]): void {
    this.served = served
    this.dropped = dropped
    this.#servedMs = this.#waiting()
    this.#stopWaiting()
    if (this.stream !== undefined) this.#overheadAtHead = this.elapsed().overhead
  }

  /** Those that ended, and the one whose stream is under way. */
  get attemptsSoFar(): readonly AttemptRecord[] {
    if (this.served === undefined || this.stream === undefined || this.stream.ended) return [...this.attempts]
    return [...this.attempts, { ...this.served, result: 'ok', ms: this.#servedMs }]
  }

  /** The call fails: the first reason stands. A stream whose head is out ends with an error frame. */
  fail(error: unknown): void {
    const failure = error instanceof GatewayError ? error : new GatewayError('internal_error', { cause: error })
    const { cause } = failure
    if (cause instanceof PluginFailure && !this.pluginFailures.includes(cause)) this.pluginFailures.push(cause)
    this.failure ??= failure
    if (this.stream?.opened) this.stream.fail(failure)
  }

  /** The gateway cannot wait any longer: the attempt under way fails, and the client reads why. */
  stop(error: GatewayError): void {
    this.#dispatch?.fail(error)
  }

  /** The last byte is out, or the client is gone: stops what still runs, and returns how the call ended. */
  close(response: SentReply): Outcome {
    this.#closed = true
    this.onClosed?.()
    const left = !response.writableFinished && this.failure === undefined
    this.#dispatch?.abort()
    this.stream?.close()
    this.#abort?.abort()
    const now = performance.now()
    return {
      kind: left ? 'client_closed' : kindOf(this.failure),
      status: left ? 499 : response.statusCode,
      error: this.failure,
      endpoint: this.endpointName,
      model: this.model,
      stream: this.#call?.stream ?? false,
      served: this.served,
      attempts: this.attempts,
      links: this.linkRuns.map((run) => run.record(now)),
      usage: this.usage,
      usageEstimated: this.usageEstimated,
      times: { ...this.elapsed(), firstByte: this.#firstByteMs },
    }
  }

  /** Hooks that come from now on run at once. (Fields, not a closure: V8 keeps an object that such a closure is put into.) */
  settled(hookRunner: HookRunner, outcome: Outcome): void {
    this.#hookRunner = hookRunner
    this.#outcome = outcome
  }

  async #read(): Promise<ClientCall> {
    const { endpoint, generation } = this
    if (endpoint === undefined || endpoint.check === 'no body') throw new ContractViolation('NO_BODY')
    this.#callContext = {
      id: this.id,
      endpoint: endpoint.name,
      check: endpoint.check,
      resolve: (name) => generation!.table.resolve(name),
      upstreamHeaders: this.upstreamHeaders,
      decided: false,
    }
    this.#call = await this.#services!.reader.read(
      this.#ctx!,
      this.#callContext,
      generation!.table.maxBody[this.principal?.kind ?? 'live'],
    )
    return this.#call
  }
}

/** How a call ended, in the words of the metrics and the log. */
function kindOf(error: GatewayError | undefined): OutcomeKind {
  if (error === undefined) return 'ok'
  if (error.row === 'upstream_timeout') return 'timeout'
  if (error.status === 429) return 'rate_limited'
  if (error.fault === 'upstream') return 'upstream_error'
  return error.fault === 'gateway' ? 'gateway_error' : 'client_error'
}
