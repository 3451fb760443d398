import { type ErrorName, GatewayError } from '../errors.ts'
import type { Relay, Source } from '../http/relay.ts'
import { pluginError } from '../plugins/faults.ts'
import type { ReplyFormat } from '../protocol/format.ts'
import {
  type Call,
  type LocalReply,
  type Provider,
  type Attempt as ProviderAttempt,
  type Served,
  UpstreamError,
  type UpstreamRefusal,
  type UpstreamRequest,
  type Usage,
} from '../sdk/api.ts'
import type { Receiver, Sending, UpstreamClient } from './client.ts'
import { Deadlines, type Phase, type PhaseLimits, type PhaseOwner } from './deadlines.ts'
import { type ByteSink, type Decoding, decoding } from './decode.ts'
import { privateValues, refusalError, timeoutError, transportError, UpstreamFault } from './failures.ts'
import { type Gatherer, Gathering } from './gathering.ts'
import { sendLocal } from './local-reply.ts'
import type { BodyReader, LinkTransform } from './readers/reader.ts'
import { RefusalReader } from './readers/refusal.ts'
import { TranslatedReader } from './readers/translated.ts'
import { VerbatimReader } from './readers/verbatim.ts'
import { WholeReader } from './readers/whole.ts'

/** How long an upstream may keep its connection open after the end marker. */
const AFTER_END_MS = 1000

/** One try at one target, from the provider's request to the last byte. */
export class Attempt implements Receiver, Source, PhaseOwner, Gatherer {
  readonly #plan: AttemptPlan
  readonly #deadlines: Deadlines
  /** What the provider sees of this. */
  readonly #seen: SeenAttempt
  #isCommitted = false
  readonly #committed = Promise.withResolvers<Buffer | undefined>()
  #state: 'connecting' | 'sent' | 'heard' | 'over' = 'connecting'
  #request: UpstreamRequest | undefined
  #sending: Sending | undefined
  #reader: BodyReader | undefined
  #decoding: Decoding | undefined
  readonly #gathering = new Gathering(this)
  #linger: NodeJS.Timeout | undefined

  constructor(plan: AttemptPlan) {
    this.#plan = plan
    this.#seen = new SeenAttempt(plan.number, plan.served.model, plan.credentialRefused)
    this.#deadlines = new Deadlines(plan.limits, this)
  }

  /** Resolves to the body of a whole reply, or to undefined when a stream is committed. Rejects with the GatewayError it failed with. */
  run(client: UpstreamClient): Promise<Buffer | undefined> {
    const { operation, call } = this.#plan
    this.#deadlines.enter('connect')
    try {
      const request = operation.request(call, this.#seen)
      if (request instanceof Promise)
        request.then((made) => this.#send(made, client)).catch((thrown: unknown) => this.#threw(thrown))
      // Most are made at once, and cost a call no promise.
      else this.#send(request, client)
    } catch (thrown) {
      this.#threw(thrown)
    }
    return this.#committed.promise
  }

  /** Parameters that the provider left out of its request. */
  dropped: readonly string[] = NONE
  /** True where a kept-alive socket broke before a byte of the reply came: it may have been closed before the request arrived. */
  stale = false

  /** What the upstream said it used. */
  get usage(): Usage | undefined {
    return this.#reader?.usage
  }

  /** Tokens of the reply so far, where the upstream did not say; undefined where it took no call: refused, or never answered. */
  get estimatedTokens(): number | undefined {
    return this.#reader === undefined || this.#reader instanceof RefusalReader ? undefined : this.#reader.estimatedTokens
  }

  /** When the head of the reply came; undefined where none did. By the monotonic clock. */
  heardAt: number | undefined

  #send(request: UpstreamRequest | LocalReply, client: UpstreamClient): void {
    if (this.#state === 'over') return
    if (!('origin' in request)) {
      this.#sending = sendLocal(request, this)
      return
    }
    this.dropped = request.dropped ?? this.dropped
    const [unfit] = this.dropped
    if (this.#plan.strict && unfit !== undefined) throw new GatewayError('unsupported_parameter', { param: unfit })
    this.#request = request
    this.#sending = client.send(request, this, this.#plan.fresh)
  }

  #threw(thrown: unknown): void {
    this.fail(pluginError(this.#plan.served.provider, 'request', thrown))
  }

  onSent(): void {
    this.#state = 'sent'
    this.#deadlines.enter('firstByte')
  }

  onHead(status: number, headers: Readonly<Record<string, string>>): void {
    this.#state = 'heard'
    this.heardAt = performance.now()
    this.#guarded(() => {
      this.#reader = this.#readerFor(status, headers)
      const encoding = headers['content-encoding'] ?? 'identity'
      if (encoding === 'identity') return
      const sink: ByteSink = { data: (bytes) => this.#read(bytes), end: () => this.#finish(), fail: (error) => this.fail(error) }
      this.#decoding = decoding(encoding, sink)
    })
  }

  onData(bytes: Buffer): void {
    this.#gathering.add(bytes)
  }

  onGathered(bytes: Buffer): void {
    if (this.#state === 'over') return
    this.#deadlines.enter('idle')
    if (this.#decoding === undefined) this.#read(bytes)
    else this.#decoding.data(bytes)
  }

  onEnd(): void {
    this.#gathering.end()
  }

  onWhole(): void {
    clearTimeout(this.#linger)
    if (this.#decoding === undefined) this.#finish()
    else this.#decoding.end()
  }

  onError(error: Error, stale: boolean): void {
    this.#gathering.flush()
    clearTimeout(this.#linger)
    this.stale = stale
    const refused = 'code' in error && error.code === 'UND_ERR_INVALID_ARG'
    this.fail(
      refused ? pluginError(this.#plan.served.provider, 'request', error) : transportError(error, this.#state !== 'connecting'),
    )
  }

  pause(): void {
    this.#deadlines.stop()
    this.#sending?.pause()
    this.#decoding?.pause()
  }

  resume(): void {
    if (this.#state !== 'over') this.#deadlines.enter('idle')
    this.#sending?.resume()
    this.#decoding?.resume()
  }

  onExpired(phase: Phase): void {
    this.fail(timeoutError(phase))
  }

  /** The client left. */
  abort(): void {
    if (this.#state === 'over') return
    this.#close('client_closed')
    this.#sending?.abort()
  }

  /** Ends the attempt badly, wherever it is. What the client sees of it is the dispatcher's to say. */
  fail(error: GatewayError): void {
    if (this.#state === 'over') return
    this.#close(error.row, error)
    this.#sending?.abort()
  }

  #readerFor(status: number, headers: Readonly<Record<string, string>>): BodyReader {
    const { operation, call, format, relay, transforms, hold } = this.#plan
    if (status !== 200) return new RefusalReader({ status, headers }, operation.error)
    const translator = operation.translator?.(call, this.#seen)
    // A provider with a wire of its own knows its streams whatever they are called.
    const isNone = translator?.decoder === undefined && /^(?:application\/json|text\/html)\b/.test(headers['content-type'] ?? '')
    const isStream = relay !== undefined && !isNone
    if (!isStream) {
      const closeDelimited = headers['content-length'] === undefined && headers['transfer-encoding'] === undefined
      return new WholeReader({ format, call, headers, translator, transforms, closeDelimited })
    }
    relay.attach(this, translator === undefined ? 'latin1' : 'utf8')
    if (translator === undefined) return new VerbatimReader({ format, call, relay, transforms, hold })
    const asked = { model: call.model.id, includeUsage: call.includeUsage, choices: call.choices }
    return new TranslatedReader({ translator, call: asked, relay, transforms, hold, done: format.done ?? '' })
  }

  #read(bytes: Buffer): void {
    this.#guarded(() => {
      this.#reader!.data(bytes)
      const { relay } = this.#plan
      if (relay?.ended) {
        this.#close('ok')
        this.#linger = setTimeout(() => this.#sending?.abort(), AFTER_END_MS)
      } else if (relay?.committed && !this.#isCommitted) {
        this.#isCommitted = true
        this.#committed.resolve(undefined)
      }
    })
  }

  #finish(): void {
    this.#guarded(() => {
      const reader = this.#reader!
      reader.end()
      if (this.#plan.relay !== undefined && reader instanceof WholeReader) {
        throw new GatewayError('upstream_invalid_response', { cause: new UpstreamFault('NO_STREAM') })
      }
      this.#close('ok')
    })
  }

  #guarded(work: () => void): void {
    if (this.#state === 'over') return
    try {
      work()
    } catch (error) {
      this.fail(error instanceof UpstreamError ? this.#refused(error.refusal) : asGatewayError(error))
    }
  }

  #refused(refusal: UpstreamRefusal): GatewayError {
    const hidden = this.#request === undefined ? [] : privateValues(this.#request, this.#plan.call)
    return refusalError(refusal, { asked: this.#plan.call.model.id, passedThrough: this.#plan.passedThrough, hidden })
  }

  #close(result: AttemptEnd['result'], error?: GatewayError): void {
    this.#state = 'over'
    this.#decoding?.close()
    this.#deadlines.close()
    this.#seen.abort()
    this.#plan.owner.onOver({ result, committed: this.#isCommitted, ...(error && { error }) })
    if (error !== undefined) this.#committed.reject(error)
    else this.#committed.resolve(this.#reader instanceof WholeReader ? this.#reader.body : undefined)
  }
}

const NONE: readonly string[] = []

const asGatewayError = (error: unknown): GatewayError =>
  error instanceof GatewayError ? error : new GatewayError('internal_error', { cause: error })

/** One try: whom to ask, how to read the reply, and where a stream goes. */
export interface AttemptPlan {
  readonly call: Call
  readonly served: Served
  /** How the provider serves the call's endpoint, and reads what a reply that is no success means. */
  readonly operation: Pick<Provider, 'request' | 'translator' | 'error'>
  readonly number: number
  /** The upstream refused the credential of the try before. */
  readonly credentialRefused: boolean
  /** Whether a parameter that the provider leaves out makes it unfit. */
  readonly strict: boolean
  readonly format: ReplyFormat
  readonly limits: PhaseLimits
  /** Where the reply goes if it is a stream; absent for a whole reply. */
  readonly relay: Relay | undefined
  readonly transforms: readonly LinkTransform[]
  /** The requested id, where the table passes the model's name through. */
  readonly passedThrough: string | undefined
  /** Whether another target is left to try. */
  readonly hold: boolean
  /** On a new connection: the one before was stale. */
  readonly fresh: boolean
  readonly owner: AttemptOwner
}

/** Who hears how an attempt ended. */
export interface AttemptOwner {
  /** Called once, before what `run` returned settles. */
  onOver(end: AttemptEnd): void
}

/** How an attempt ended, for its record. */
export interface AttemptEnd {
  readonly result: 'ok' | 'client_closed' | ErrorName
  readonly error?: GatewayError
  /** A stream was on its way to the client already. */
  readonly committed: boolean
}

/** A try as its provider sees it. The signal is made when asked for: most providers do no I/O of their own. */
export class SeenAttempt implements ProviderAttempt {
  readonly number: number
  readonly model: string
  readonly credentialRefused: boolean
  #controller: AbortController | undefined
  #aborted = false

  constructor(number: number, model: string, credentialRefused: boolean) {
    this.number = number
    this.model = model
    this.credentialRefused = credentialRefused
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#aborted) this.#controller.abort()
    return this.#controller.signal
  }

  abort(): void {
    this.#aborted = true
    this.#controller?.abort()
  }
}
