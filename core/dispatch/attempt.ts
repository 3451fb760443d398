import { Deadlines, type Expiring } from '../async/event-loop.ts'
import type { ErrorName } from '../error-table.ts'
import { asGatewayError, GatewayError, UpstreamFailure } from '../errors.ts'
import { closeFacade } from '../plugins/facade.ts'
import { callProvider, type PluginTimer, pluginError } from '../plugins/faults.ts'
import type { ClientReplies } from '../protocol/client-protocol.ts'
import type { ReplyFormat } from '../protocol/format.ts'
import { usageOf } from '../protocol/usage.ts'
import type { ChargedTokens } from '../protocol/usage-report.ts'
import {
  type AttemptStates,
  answerEstimate,
  type Call,
  type CallStates,
  type ChatCompletion,
  type EndpointHandler,
  hasCallStates,
  isRecord,
  type LocalReply,
  openaiTranslator,
  type Provider,
  type Attempt as ProviderAttempt,
  promptEstimate,
  type Served,
  UpstreamError,
  type UpstreamRefusal,
  type UpstreamRequest,
} from '../sdk/api.ts'
import type { Receiver, Sending, UpstreamClient } from '../upstream/client.ts'
import { type ByteSink, type Decoding, decoding } from '../upstream/decode.ts'
import { type Phase, type PhaseLimits, privateValues, refusalError, timeoutError, transportError } from '../upstream/failures.ts'
import { sendLocal } from '../upstream/local-reply.ts'
import { ByteReader } from '../upstream/readers/bytes.ts'
import type { BodyReader, LinkTransform, StateKeeper } from '../upstream/readers/reader.ts'
import { RefusalReader } from '../upstream/readers/refusal.ts'
import type { PausableSource, StreamSink } from '../upstream/readers/stream-sink.ts'
import { ChunkWriter, TranslatedReader } from '../upstream/readers/translated.ts'
import { VerbatimReader } from '../upstream/readers/verbatim.ts'
import { type ReplyThreads, WholeReader } from '../upstream/readers/whole.ts'

/** One attempt: its target, how to read the reply, and the sink of a stream. */
export interface AttemptOptions {
  readonly call: Call
  readonly served: Served
  /** The provider's functions for the call's endpoint, and for reading a refusal. */
  readonly handler: Pick<Provider, 'request' | 'translator' | 'error' | 'stateOwner' | 'takesCallStates'> &
    Pick<EndpointHandler, 'decoder'>
  /** Keeps what the upstream wants back with the results of tool calls. Absent: the client keeps it, or there is nothing. */
  readonly states?: KeptStates | undefined
  /** The upstream may have refused the states of tool calls: it gets none. */
  readonly withoutStates?: boolean
  readonly number: number
  /** The upstream refused the credential of the previous attempt. */
  readonly credentialRefused: boolean
  /** Whether a parameter that the provider drops fails the attempt. */
  readonly strict: boolean
  readonly format: ReplyFormat
  /** The replies in the client's protocol, if the reply is a chat completion that it does not know. */
  readonly replies: ClientReplies | undefined
  readonly limits: PhaseLimits
  /** The sink of a streamed reply; undefined for a whole reply. */
  readonly stream: StreamSink | undefined
  readonly transforms: readonly LinkTransform[]
  /** The requested id, if the table passes it through. */
  readonly passedThrough: string | undefined
  /** A model that the caller may call, with a name like one that the upstream does not know. */
  readonly nearest: ((name: string) => string | undefined) | undefined
  /** Whether another attempt may follow: then a stream is held until the first meaningful event. */
  readonly hold: boolean
  /** Use a new connection: the previous one was stale. */
  readonly fresh: boolean
  /** For large replies. */
  readonly threads: ReplyThreads
  readonly timer: PluginTimer
  /** Ends the attempt, with `CLIENT_GONE` or the error of its call as the reason. */
  readonly signal: AbortSignal
  /** Called when the stream is committed: no other attempt can replace it. */
  onCommitted(): void
}

/**
 * The reason of the signal of a call whose client has left, or has all of its reply. Plugins can reach it: one for all calls, it cannot be
 * changed, and it is no error for a client.
 */
export const CLIENT_GONE: DOMException = Object.freeze(new DOMException('the client has left, or has its reply', 'AbortError'))

/** How an attempt ended. */
export interface AttemptEnd {
  readonly result: 'ok' | 'client_closed' | ErrorName
  /** The failure; undefined for `ok` and `client_closed`. */
  readonly error: GatewayError | undefined
  /** The whole reply; undefined for a stream. */
  readonly body: Buffer | undefined
  /** A stream was already committed. */
  readonly isCommitted: boolean
  /** Undefined for an attempt that is not charged. */
  readonly tokens: ChargedTokens | undefined
  /** Whether any of the request was sent. */
  readonly wasSent: boolean
  /** Whether the upstream may have refused states of the model in its request, which the gateway or the client has kept. */
  readonly mayHaveRefusedStates: boolean
  /** True if a reused socket failed before the first byte of the reply: it may have closed before the request arrived. */
  readonly isStale: boolean
  /** Monotonic time of the reply's head; undefined if there was none. */
  readonly heardAt: number | undefined
}

/** The states of tool calls that the gateway keeps for the client of an attempt. */
export interface KeptStates extends StateKeeper {
  /** Those of the tool calls in its request. Never rejects because they are lost. */
  recall(): Promise<CallStates>
}

/** Milliseconds an upstream may keep its connection open after the end marker. */
const AFTER_END_MS = 1000

/** What large models write: a call that the client leaves before the first token costs so many. */
const TOKENS_PER_SECOND = 100

/** Milliseconds by which a phase timeout may be late. */
const TOLERANCE_MS = 20

const deadlines = new Deadlines<UpstreamAttempt>(TOLERANCE_MS)

/** One attempt at one target, from the provider's request to the last byte. */
export class UpstreamAttempt implements Receiver, PausableSource, Expiring {
  previous: this | undefined
  next: this | undefined
  /** Parameters that the provider dropped from its request. */
  dropped: readonly string[] = []
  /** Of the phase. None while the attempt is paused. */
  deadline = Number.POSITIVE_INFINITY
  readonly #options: AttemptOptions
  readonly #end = Promise.withResolvers<AttemptEnd>()
  /** The provider's view of this attempt. */
  readonly #view: AttemptView
  #abort: AbortController | undefined
  #commit: 'none' | 'due' | 'done' = 'none'
  #state: 'connecting' | 'sent' | 'heard' | 'over' = 'connecting'
  /** The request without its body, which may be large. */
  #sent: Pick<UpstreamRequest, 'origin' | 'headers'> | undefined
  #sending: Sending | undefined
  #reader: BodyReader | undefined
  #decoding: Decoding | undefined
  #linger: NodeJS.Timeout | undefined
  #phase: Phase = 'connect'
  /** Monotonic times. */
  #sentAt: number | undefined
  #heardAt: number | undefined
  #isStale = false

  constructor(options: AttemptOptions) {
    this.#options = options
    this.#view = new AttemptView(this, options)
  }

  /** Gets the request from the provider, and sends it. Resolves to its end: of a stream, to that of its last byte. */
  run(client: UpstreamClient): Promise<AttemptEnd> {
    const { handler, call, served, timer, signal, states } = this.#options
    signal.addEventListener('abort', this)
    // A large body is translated in a worker thread: its upstream must not be blamed for that time.
    if (!call.large) this.#enter('connect')
    deadlines.add(this)
    const startedAt = performance.now()
    const made = (request: UpstreamRequest | LocalReply): void => {
      timer.ran(served.provider, 'request', performance.now() - startedAt)
      this.#send(request, client)
    }
    const threw = (thrown: unknown): void => this.fail(pluginError(served.provider, 'request', thrown))
    try {
      const request =
        states !== undefined && this.#view.callStates === undefined && call.mayHave(TOOL_CALLS)
          ? this.#requestWith(states)
          : handler.request(call, this.#view)
      if (request instanceof Promise) request.then(made).catch(threw)
      // Most are made synchronously, without a promise.
      else made(request)
    } catch (thrown) {
      threw(thrown)
    }
    return this.#end.promise
  }

  /** The call is aborted. */
  handleEvent(): void {
    const { reason } = this.#options.signal
    if (reason === CLIENT_GONE) this.#over('client_closed')
    else this.fail(reason)
  }

  async #requestWith(states: KeptStates): Promise<UpstreamRequest | LocalReply> {
    const { handler, call } = this.#options
    this.#view.callStates = await states.recall()
    return handler.request(call, this.#view)
  }

  /** Its stream is sent to the client: no other attempt can replace it. */
  get isCommitted(): boolean {
    return this.#commit === 'done'
  }

  /** Aborted when the attempt ends. Created on first use: most providers do no I/O of their own. */
  get signal(): AbortSignal {
    this.#abort ??= new AbortController()
    if (this.#state === 'over') this.#abort.abort()
    return this.#abort.signal
  }

  #mayHaveRefusedStates({ row, cause }: GatewayError): boolean {
    const { handler, call } = this.#options
    const { callStates: kept } = this.#view
    if (row !== 'upstream_rejected' || handler.takesCallStates !== true || kept === 'none') return false
    if (kept !== undefined && kept.size > 0) return true
    if (call.endpoint === 'responses') return isAboutEncryption(cause) && call.mayHave(ENCRYPTED)
    return call.mayHave(STATES) && (call.large || hasCallStates(call.body))
  }

  /** What it is charged if it is cut off now; undefined if that is nothing, or if it has ended. */
  get tokensSoFar(): ChargedTokens | undefined {
    return this.#state === 'over' ? undefined : this.#tokens('client_closed')
  }

  #send(request: UpstreamRequest | LocalReply, client: UpstreamClient): void {
    if (this.#state === 'over') return
    if (!('origin' in request)) {
      this.#sending = sendLocal(request, this)
      return
    }
    this.dropped = request.dropped ?? this.dropped
    const [unfit] = this.dropped
    if (this.#options.strict && unfit !== undefined) throw new GatewayError('unsupported_parameter', { param: unfit })
    this.#sent = { origin: request.origin, headers: request.headers }
    if (this.#options.call.large) this.#enter('connect')
    this.#sending = client.send(request, this, this.#options.fresh)
  }

  onSent(): void {
    this.#state = 'sent'
    this.#sentAt = performance.now()
    this.#enter('firstByte')
  }

  onHead(status: number, headers: Readonly<Record<string, string>>): void {
    this.#state = 'heard'
    this.#heardAt = performance.now()
    this.#guarded(() => {
      this.#reader = this.#readerFor(status, headers)
      const encoding = headers['content-encoding'] ?? 'identity'
      if (encoding === 'identity') return
      const sink: ByteSink = { data: (bytes) => this.#read(bytes), end: () => this.#finish(), fail: (error) => this.fail(error) }
      this.#decoding = decoding(encoding, sink)
    })
  }

  onData(bytes: Buffer): void {
    if (this.#state === 'over') return
    this.#enter('idle')
    if (this.#decoding === undefined) this.#read(bytes)
    else this.#decoding.data(bytes)
  }

  onEnd(): void {
    clearTimeout(this.#linger)
    if (this.#decoding === undefined) this.#finish()
    else this.#decoding.end()
  }

  onError(error: Error, stale: boolean): void {
    clearTimeout(this.#linger)
    this.#isStale = stale
    const refused = 'code' in error && error.code === 'UND_ERR_INVALID_ARG'
    this.fail(
      refused
        ? pluginError(this.#options.served.provider, 'request', error)
        : transportError(error, this.#state !== 'connecting'),
    )
  }

  pause(): void {
    this.deadline = Number.POSITIVE_INFINITY
    this.#sending?.pause()
    this.#decoding?.pause()
  }

  resume(): void {
    if (this.#state !== 'over') this.#enter('idle')
    this.#sending?.resume()
    this.#decoding?.resume()
  }

  onDeadline(): void {
    this.fail(timeoutError(this.#phase))
  }

  #enter(phase: Phase): void {
    this.#phase = phase
    this.deadline = performance.now() + this.#options.limits[phase]
    deadlines.expect(this.deadline)
  }

  /** Fails the attempt in any phase. */
  fail(error: GatewayError): void {
    this.#over(error.row, { error })
  }

  #readerFor(status: number, headers: Readonly<Record<string, string>>): BodyReader {
    const { handler, call, format, replies, served, stream, transforms, hold, threads, states } = this.#options
    const { provider } = served
    if (status !== 200) {
      const usage = (body: unknown): unknown => this.#usageIn(body)
      return new RefusalReader({ status, headers, call, handler, provider, usage })
    }
    const own = handler.translator && callProvider(provider, () => handler.translator!(call, this.#view))
    const translator = own ?? (replies && openaiTranslator())
    const type = headers['content-type'] ?? ''
    const owner = handler.stateOwner === undefined ? undefined : { name: handler.stateOwner, model: served.model }
    const isBytes = format.kind?.(call) === 'bytes'
    if (stream !== undefined && isBytes && format.bytes!.test(type)) {
      stream.attach(this, 'latin1', type)
      return new ByteReader(stream, format)
    }
    // A provider with its own decoder reads a stream of any content type.
    const hasDecoder = (translator ?? handler).decoder !== undefined
    const isNone = !hasDecoder && (isBytes || /^(?:application\/json|text\/html)\b/.test(type))
    if (stream === undefined || isNone) {
      const closeDelimited = headers['content-length'] === undefined && headers['transfer-encoding'] === undefined
      const encode = replies && ((completion: ChatCompletion) => replies.reply(completion, owner))
      return new WholeReader({ format, call, headers, translator, transforms, closeDelimited, threads, encode, states })
    }
    stream.attach(this, translator === undefined ? 'latin1' : 'utf8')
    if (translator === undefined) {
      const decoder = handler.decoder && callProvider(provider, () => handler.decoder!())
      return new VerbatimReader({ format, call, stream, transforms, hold, decoder })
    }
    const { includeUsage, choices, size } = call
    const chunkOptions = { model: call.model.id, includeUsage, choices, size }
    const writer = replies?.writer(owner) ?? new ChunkWriter()
    return new TranslatedReader({ translator, call: chunkOptions, stream, transforms, hold, writer, states })
  }

  /** The usage in the body of a refusal. */
  #usageIn(body: unknown): unknown {
    const { handler, call, format, served } = this.#options
    return callProvider(served.provider, () => {
      const translator = handler.translator?.(call, this.#view)
      if (translator !== undefined) return translator.usage?.(body)
      return isRecord(body) ? format.usage(body) : undefined
    })
  }

  #read(bytes: Buffer): void {
    this.#guarded(() => {
      this.#reader!.data(bytes)
      const { stream } = this.#options
      if (stream?.ended) {
        this.#over('ok')
        if (this.#reader!.cut) this.#sending?.abort()
        else this.#linger = setTimeout(() => this.#sending?.abort(), AFTER_END_MS).unref()
      } else if (stream?.begun && this.#commit === 'none') {
        this.#commit = 'due'
        // Not synchronously: an error in the same turn of the event loop can still fail the stream before a byte is sent.
        queueMicrotask(() => this.#commitStream(stream))
      }
    })
  }

  #commitStream(stream: StreamSink): void {
    if (this.#state === 'over') return
    this.#commit = 'done'
    stream.commit()
    this.#options.onCommitted()
  }

  #finish(): void {
    this.#guarded(() => {
      const reading = this.#reader!.end()
      if (reading === undefined) this.#ended()
      else {
        // The upstream has sent everything: it must not be blamed for the thread's time.
        this.deadline = Number.POSITIVE_INFINITY
        reading.then(() => this.#guarded(() => this.#ended())).catch((error: unknown) => this.#threw(error))
      }
    })
  }

  #ended(): void {
    const reader = this.#reader!
    if (!(reader instanceof WholeReader)) this.#over('ok')
    else if (this.#options.stream === undefined) this.#over('ok', { body: reader.body })
    else throw new GatewayError('upstream_invalid_response', { cause: new UpstreamFailure('NO_STREAM') })
  }

  #guarded(work: () => void): void {
    if (this.#state === 'over') return
    try {
      work()
    } catch (error) {
      this.#threw(error)
    }
  }

  #threw(error: unknown): void {
    this.fail(error instanceof UpstreamError ? this.#refused(error.refusal) : asGatewayError(error))
  }

  #refused(refusal: UpstreamRefusal): GatewayError {
    const hidden = this.#sent === undefined ? [] : privateValues(this.#sent, this.#options.call)
    const { call, passedThrough, nearest } = this.#options
    return refusalError(refusal, { asked: call.model.id, passedThrough, nearest, hidden })
  }

  #over(result: AttemptEnd['result'], { error, body }: { readonly error?: GatewayError; readonly body?: Buffer } = {}): void {
    if (this.#state === 'over') return
    this.#state = 'over'
    this.#decoding?.close()
    deadlines.remove(this)
    this.#options.signal.removeEventListener('abort', this)
    this.#abort?.abort()
    // A complete reply's connection is used again.
    if (result !== 'ok') this.#sending?.abort()
    const end: { -readonly [Part in keyof AttemptEnd]: AttemptEnd[Part] } = {
      result,
      error,
      body,
      isCommitted: this.isCommitted,
      tokens: undefined,
      wasSent: this.#sentAt !== undefined,
      mayHaveRefusedStates: false,
      isStale: this.#isStale,
      heardAt: this.#heardAt,
    }
    try {
      end.mayHaveRefusedStates = error !== undefined && this.#mayHaveRefusedStates(error)
      end.tokens = this.#tokens(result)
    } catch (thrown) {
      // Whatever its fault, the attempt has ended: nobody may wait for it for ever.
      end.error = asGatewayError(thrown)
      end.result = end.error.row
      end.body = undefined
      end.mayHaveRefusedStates = false
    }
    this.#end.resolve(end)
  }

  /**
   * As the upstream reported them, else estimated. A failed attempt without a sign of tokens is not charged; one that the client left is, since
   * the upstream may go on with it (docs/decisions/estimates.md).
   */
  #tokens(result: AttemptEnd['result']): ChargedTokens | undefined {
    const { call, format } = this.#options
    const isRefused = this.#reader instanceof RefusalReader
    const report = this.#reader?.report
    if (format.uses !== undefined)
      return result === 'ok' ? { usage: format.uses, estimated: false, isPromptEstimated: false } : undefined
    const prompt = promptEstimate(call)
    // Later it may use all that the call allows, and nothing will tell.
    if (this.#reader?.unfinished)
      return { usage: usageOf(prompt, answerEstimate(call)), estimated: true, isPromptEstimated: true, isUnfinished: true }
    if (report !== undefined && !report.isEmpty) return report.charged(prompt)
    if (result === 'client_closed' && this.#sentAt !== undefined && !isRefused) {
      return {
        usage: usageOf(prompt, this.#unheard(this.#sentAt), format.makes),
        estimated: true,
        isPromptEstimated: true,
      }
    }
    return result === 'ok' ? report?.charged(prompt) : undefined
  }

  /** The tokens that the model may have written unheard since the request was sent. */
  #unheard(sentAt: number): number {
    const seconds = (performance.now() - sentAt) / 1000
    return Math.min(answerEstimate(this.#options.call), Math.ceil(seconds * TOKENS_PER_SECOND))
  }
}

/** A request without such a member has no tool calls. */
const TOOL_CALLS = ['tool_calls']
/** A request without such a member has no states of its client's. */
const STATES = ['extra_content']
/** The same of a request of the Responses API. */
const ENCRYPTED = ['encrypted_content']

/**
 * Whether OpenAI could not read what it, or another account of it, has encrypted: "invalid_encrypted_content", github.com/openai/codex, issue 8126;
 * some servers say it in words alone.
 */
const isAboutEncryption = (cause: unknown): boolean =>
  cause instanceof UpstreamError &&
  (cause.refusal.code === 'invalid_encrypted_content' || /\bencrypted.content\b/i.test(cause.refusal.message ?? ''))

/** The provider's view of an attempt. */
class AttemptView implements ProviderAttempt {
  readonly number: number
  readonly model: string
  readonly credentialRefused: boolean
  callStates: AttemptStates | undefined
  readonly #attempt: UpstreamAttempt

  constructor(attempt: UpstreamAttempt, { number, served, credentialRefused, withoutStates }: AttemptOptions) {
    this.number = number
    this.model = served.model
    this.credentialRefused = credentialRefused
    this.callStates = withoutStates === true ? 'none' : undefined
    this.#attempt = attempt
  }

  get signal(): AbortSignal {
    return this.#attempt.signal
  }
}

closeFacade(AttemptView)
