import type { Enrolled } from '../async/linked-list.ts'
import { GatewayError } from '../errors.ts'
import type { Generation } from '../gateway/generation.ts'
import { Misuse, PluginFault } from '../plugins/faults.ts'
import type { ClientCall } from '../protocol/call.ts'
import type { CallOwner, Dispatch, Tokens } from '../routing/dispatch.ts'
import type {
  AttemptRecord,
  CallState,
  ChatChunk,
  ChatCompletion,
  EndpointName,
  ModelId,
  Outcome,
  OutcomeKind,
  Principal,
  Reply,
  ReplyTransform,
  RouteTrace,
  Served,
  Usage,
} from '../sdk/api.ts'
import type { LinkTransform } from '../upstream/readers/reader.ts'
import type { LinkTime } from './chain.ts'
import type { Relay } from './relay.ts'
import type { SentReply, Settler, Teller } from './settle.ts'

/** One request and its reply: the state that travels through the chain, and what is known when it is over. */
export class Exchange implements CallState, Reply, CallOwner, Enrolled {
  before: this | undefined
  after: this | undefined
  readonly id: string
  readonly tags: Record<string, string> = {}
  readonly upstreamHeaders: Record<string, string> = {}
  /** The innermost link's first: a reply passes the chain from bottom to top. */
  readonly transforms: LinkTransform[] = []
  readonly attempts: AttemptRecord[] = []
  /** Of the links that had their turn, the outermost first. */
  readonly linkTimes: LinkTime[] = []
  principal: Principal | undefined
  served: Served | undefined
  failure: GatewayError | undefined
  /** What plugins did wrong, whether the call failed for it or not. */
  readonly pluginFaults: PluginFault[] = []
  ownReply: OwnReply | undefined
  /** The stream to the client, once there is one. */
  relay: Relay | undefined
  /** Core's own to do at the end: the call is no longer in flight. */
  onEnd: (() => void) | undefined
  /** The whole reply to the client, once there is one. */
  body: Buffer | undefined
  usage: Usage | undefined
  usageEstimated = false
  /** The link whose turn it is, to know who asks for what. */
  linkName = 'core'
  /** Parameters that the provider left out, for the reply's head. */
  dropped: readonly string[] = []
  #arrival: Arrival | undefined
  #abort: AbortController | undefined
  #dispatch: Dispatch | undefined
  #firstByteMs: number | undefined
  #sealed = false
  #closed = false
  #teller: Teller | undefined
  #outcome: Outcome | undefined
  #reading: Promise<ClientCall> | undefined
  #call: ClientCall | undefined
  readonly settlers: Settler[] = []
  readonly #watch = new Stopwatch()

  constructor(id: string) {
    this.id = id
  }

  /** The request has reached an endpoint. */
  begin(arrival: Arrival): void {
    this.#arrival = arrival
  }

  /** The endpoint reached. Requests that reach none name no model either, like `models`. */
  get endpoint(): EndpointName {
    return this.#arrival?.name ?? 'models'
  }

  /** Absent until an endpoint was reached. */
  get generation(): Generation | undefined {
    return this.#arrival?.generation
  }

  get reply(): Reply {
    return this
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

  get stream(): boolean {
    return this.#call?.stream ?? false
  }

  call(): Promise<ClientCall> {
    this.#reading ??= this.#readCall()
    return this.#reading
  }

  send(reply: OwnReply['reply']): void {
    if (this.#decided) throw new Misuse('SEND_AFTER_NEXT')
    if (!this.#arrival?.hasBody) throw new Misuse('NO_BODY')
    this.ownReply = { link: this.linkName, reply }
  }

  transform(transform: ReplyTransform): void {
    if (this.#decided) throw new Misuse('TRANSFORM_AFTER_NEXT')
    // What other endpoints reply is neither a completion nor made of chunks.
    if (this.endpoint !== 'chat.completions') return
    this.transforms.unshift({ link: this.linkName, transform })
  }

  /** Core takes the call over: links can no longer change it, or say what becomes of it. */
  seal(): void {
    this.#sealed = true
    this.#call?.seal()
  }

  onSettled(fn: (outcome: Outcome) => void | Promise<void>): void {
    const settler = { link: this.linkName, fn }
    // A link that was waiting when its client left may ask only now.
    if (this.#teller === undefined) this.settlers.push(settler)
    else void this.#teller.tell(settler, this.#outcome!)
  }

  elapsed(): { readonly total: number; readonly overhead: number } {
    return this.#watch.elapsed()
  }

  /** The call is on its way to upstreams: who ends it ends that. */
  sent(dispatch: Dispatch): void {
    this.#dispatch = dispatch
  }

  onWait(): void {
    this.#watch.wait()
  }

  onAttemptOver(record: AttemptRecord, tokens: Tokens | undefined): void {
    // In the place of the one that stands for a stream under way.
    if (this.served !== undefined) this.attempts.pop()
    this.attempts.push(record)
    this.#watch.stopWaiting()
    if (tokens === undefined) return
    this.usage = tokens.usage
    this.usageEstimated = tokens.estimated
  }

  onServed(served: Served, dropped: readonly string[]): void {
    this.served = served
    this.dropped = dropped
    // A stream's try goes on behind its head, which counts it already.
    if (this.relay?.ended === false) this.attempts.push({ ...served, result: 'ok', ms: this.#watch.waiting })
    this.#watch.stopWaiting()
    if (this.relay !== undefined) this.#watch.head()
  }

  get trace(): RouteTrace | undefined {
    return this.#dispatch?.trace
  }

  /** The first event that carries something is on its way. */
  onFirstByte(): void {
    this.#firstByteMs ??= this.elapsed().total
  }

  onBroken(error: GatewayError): void {
    this.fail(error)
    if (this.relay?.opened) this.relay.fail(error)
  }

  /** Remembers why the call failed; the first reason stands. */
  fail(error: unknown): void {
    const failure = error instanceof GatewayError ? error : new GatewayError('internal_error', { cause: error })
    const { cause } = failure
    if (cause instanceof PluginFault && !this.pluginFaults.includes(cause)) this.pluginFaults.push(cause)
    this.failure ??= failure
  }

  /** The gateway cannot wait any longer: the try under way fails, and the client hears why. */
  stop(error: GatewayError): void {
    this.#dispatch?.fail(error)
  }

  /** Who tells late askers of the outcome. (Fields, not a closure: V8 keeps an object that such a closure is put into.) */
  settled(teller: Teller, outcome: Outcome): void {
    this.#teller = teller
    this.#outcome = outcome
  }

  /** The last byte is out, or the client is gone: stops what still runs, and says how the call ended. */
  close(response: SentReply): Outcome {
    this.#closed = true
    this.onEnd?.()
    const left = !response.writableFinished && this.failure === undefined
    this.#dispatch?.abort()
    this.relay?.close()
    this.#abort?.abort()
    const now = performance.now()
    return {
      kind: left ? 'client_closed' : outcomeKind(this.failure),
      status: left ? 499 : response.statusCode,
      error: this.failure,
      endpoint: this.endpoint,
      model: this.model,
      stream: this.stream,
      served: this.served,
      attempts: this.attempts,
      links: this.linkTimes.map((time) => time.record(now)),
      usage: this.usage,
      usageEstimated: this.usageEstimated,
      times: { ...this.elapsed(), firstByte: this.#firstByteMs },
    }
  }

  /** Where the call goes, or that it fails. */
  get #decided(): boolean {
    return this.#sealed || this.failure !== undefined
  }

  async #readCall(): Promise<ClientCall> {
    if (!this.#arrival?.hasBody) throw new Misuse('NO_BODY')
    this.#call = await this.#arrival.read()
    return this.#call
  }
}

/** How long a call has taken so far, since its request arrived, and how much of that it waited for upstreams: in milliseconds. */
export class Stopwatch {
  readonly #startedAt = performance.now()
  #waited = 0
  #atHead: number | undefined
  #waitingSince: number | undefined

  /** In the wait under way; 0 where there is none. */
  get waiting(): number {
    return this.#waitingSince === undefined ? 0 : performance.now() - this.#waitingSince
  }

  /** `overhead`: in the gateway itself, until the reply's head. */
  elapsed(): { readonly total: number; readonly overhead: number } {
    const total = performance.now() - this.#startedAt
    return { total, overhead: this.#atHead ?? Math.max(total - this.#waited - this.waiting, 0) }
  }

  /** The reply begins: what it takes from now on is the upstream's time, and the client's. */
  head(): void {
    this.#atHead ??= this.elapsed().overhead
  }

  /** An upstream has been asked. */
  wait(): void {
    this.#waitingSince = performance.now()
  }

  /** It has answered, or failed. */
  stopWaiting(): void {
    this.#waited += this.waiting
    this.#waitingSince = undefined
  }
}

/** Where a request has arrived. */
export interface Arrival {
  readonly name: EndpointName
  /** The generation that serves it. */
  readonly generation: Generation
  /** False where the endpoint's requests have none. */
  readonly hasBody: boolean
  /** Reads the request's body. */
  read(): Promise<ClientCall>
}

/** What a link answered with, instead of the upstream. */
export interface OwnReply {
  readonly link: string
  readonly reply: ChatCompletion | Iterable<ChatChunk> | AsyncIterable<ChatChunk>
}

/** How a call ended, in the words of the metrics and the log. */
export function outcomeKind(error: GatewayError | undefined): OutcomeKind {
  if (error === undefined) return 'ok'
  if (error.row === 'upstream_timeout') return 'timeout'
  if (error.status === 429) return 'rate_limited'
  if (error.fault === 'upstream') return 'upstream_error'
  return error.fault === 'gateway' ? 'gateway_error' : 'client_error'
}
