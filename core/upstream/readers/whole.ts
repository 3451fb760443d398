import { GatewayError, UpstreamFailure } from '../../errors.ts'
import { type ReplyFormat, TEXT_BYTES } from '../../protocol/format.ts'
import { ScanError } from '../../protocol/json.ts'
import { LARGE, type ScannedBody } from '../../protocol/json-body.ts'
import { parseUpstream, ScannedReply, scanReply } from '../../protocol/upstream-json.ts'
import { readUsage } from '../../protocol/usage.ts'
import { isPlausible, servedVariants, UsageReport } from '../../protocol/usage-report.ts'
import { writtenLength } from '../../protocol/written-text.ts'
import { type Call, type ChatCompletion, type TranslatedCompletion, type Translator, UpstreamError } from '../../sdk/api.ts'
import { type BodyReader, CallStateReader, type LinkTransform, type StateKeeper, transformCompletion } from './reader.ts'

/** Reads large replies off the event loop. Both take the bytes over, and throw `ScanError` for what is no JSON, or beyond its bounds. */
export interface ReplyThreads {
  /** Scans a JSON object. Returns the bytes without a copy. */
  scan(bytes: Buffer): Promise<ScannedBody>
  parse(bytes: Buffer): Promise<unknown>
}

/** How to read a whole reply. */
export interface WholePlan {
  readonly format: ReplyFormat
  readonly call: Call
  /** Reply headers. */
  readonly headers: Readonly<Record<string, string>>
  readonly translator: Translator | undefined
  readonly transforms: readonly LinkTransform[]
  /** True if only the connection's close ends the body: then a lost connection looks like an end. */
  readonly closeDelimited: boolean
  /** Absent: all replies are read on the event loop. */
  readonly threads?: ReplyThreads | undefined
  /** Converts a completion to the client's protocol. Absent: the client knows completions. */
  readonly encode?: ((completion: ChatCompletion) => object) | undefined
  /** Absent: the client keeps the states of tool calls, or there are none. */
  readonly states?: StateKeeper | undefined
}

/** Reads a reply that is not a stream. Its bytes stay unchanged unless a translator or a transform applies. */
export class WholeReader implements BodyReader {
  readonly #plan: WholePlan
  readonly #chunks: Buffer[] = []
  #size = 0
  report: UsageReport
  unfinished = false
  /** The body for the client, after `end`. */
  body: Buffer = Buffer.alloc(0)

  constructor(plan: WholePlan) {
    this.#plan = plan
    this.report = new UsageReport(plan.call)
  }

  data(bytes: Buffer): void {
    this.#size += bytes.length
    if (this.#size > (this.#plan.format.maxBytes ?? TEXT_BYTES))
      throw new GatewayError('upstream_invalid_response', { cause: new UpstreamFailure('REPLY_TOO_LARGE') })
    this.#chunks.push(bytes)
    if (this.#plan.format.generates) this.report.wrote(bytes.length)
  }

  /** A promise where a thread reads the body. */
  end(): void | Promise<void> {
    const bytes = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks)
    const { translator, transforms, encode } = this.#plan
    if (translator !== undefined) {
      return after(this.#parse(bytes), (value) => {
        const completion = this.#translate(translator, value)
        if (this.#plan.states !== undefined) keepStates(completion, this.#plan.states)
        this.body = this.#isTransformed
          ? transformCompletion(completion, transforms, encode)
          : Buffer.from(JSON.stringify(encode ? encode(completion) : completion))
      })
    }
    return after(this.#scan(bytes), (reply) => {
      const passed = this.#checked(reply)
      const { format, call } = this.#plan
      if (format.hasOtherForm?.(passed, call)) {
        return after(this.#parse(passed), (value) => {
          this.body = Buffer.from(JSON.stringify(this.#normalise(value as object)))
        })
      }
      if (this.#isTransformed) {
        return after(this.#parse(passed), (value) => {
          this.body = transformCompletion(value as ChatCompletion, transforms, encode)
        })
      }
      this.body = passed
    })
  }

  get #isTransformed(): boolean {
    return this.#plan.transforms.some(({ transform }) => transform.completion)
  }

  #checked(reply: ScannedReply): Buffer {
    const { format } = this.#plan
    this.#restart()
    const facts = format.whole(reply)
    if (facts === undefined || facts.refusal !== undefined) {
      this.report.read(format.usage(reply.pick('usage')), true)
      throw facts === undefined ? noCompletion() : new UpstreamError(facts.refusal!)
    }
    this.report.servedBy(facts.served)
    this.#settle(facts.usage, () => reply.bytes.toString('latin1'))
    this.unfinished = facts.unfinished === true
    return facts.body ?? reply.bytes
  }

  #translate(translator: Translator, body: unknown): ChatCompletion {
    this.#restart()
    return expectSound(() => {
      const { format, call, headers } = this.#plan
      const translated = this.#completionOf(translator, body, headers)
      this.report.servedBy(servedVariants(translated))
      this.#settle(format.usage(translated), () => Buffer.from(JSON.stringify(body)).toString('latin1'))
      return format.normalise(translated, call) as ChatCompletion
    })
  }

  #completionOf(translator: Translator, body: unknown, headers: WholePlan['headers']): TranslatedCompletion {
    try {
      return translator.completion(body, headers)
    } catch (error) {
      this.report.read(translator.usage?.(body), true)
      throw error
    }
  }

  #normalise(reply: object): object {
    return expectSound(() => this.#plan.format.normalise(reply, this.#plan.call))
  }

  /** All bytes have come: what the body says counts from here, and not its length. A refusal has used nothing but what it says. */
  #restart(): void {
    this.report = new UsageReport(this.#plan.call)
  }

  /**
   * The reply is complete, with this usage. Its text is searched only if all of its bytes are too many for the tokens. `text`: of the reply,
   * a byte a character.
   */
  #settle(usage: unknown, text: () => string): void {
    const { format } = this.#plan
    const tokens = readUsage(usage)?.completion_tokens
    const isAllCounted = tokens === undefined || isPlausible(tokens, this.#size)
    if (format.generates) this.report.wrote(isAllCounted ? this.#size : writtenLength(text()))
    if (format.makes !== undefined) this.report.made(format.makes)
    this.report.read(usage, true)
  }

  #scan(bytes: Buffer): ScannedReply | Promise<ScannedReply> {
    const { threads, format } = this.#plan
    const outline = format.outline?.(bytes)
    if (outline === undefined && isLarge(bytes) && threads !== undefined) {
      return threads.scan(bytes).then(
        (body) => new ScannedReply(body.bytes, body.scanned),
        (error) => this.#rethrow(error),
      )
    }
    const reply = scanReply(bytes, outline)
    if (reply === undefined) throw this.#notAReply()
    return reply
  }

  #parse(bytes: Buffer): unknown {
    const { threads } = this.#plan
    if (isLarge(bytes) && threads !== undefined) return threads.parse(bytes).catch((error) => this.#rethrow(error))
    const value = parseUpstream(bytes)
    if (value === undefined) throw this.#notAReply()
    return value
  }

  /** Of a thread: what is no JSON within the bounds is no reply. */
  #rethrow(error: unknown): never {
    throw error instanceof ScanError ? this.#notAReply() : error
  }

  /** The error for what is no JSON. */
  #notAReply(): GatewayError {
    if (this.#plan.closeDelimited) return new GatewayError('upstream_disconnected', { cause: new UpstreamFailure('BODY_CUT') })
    this.#restart()
    return noCompletion()
  }
}

function keepStates({ choices }: ChatCompletion, keeper: StateKeeper): void {
  for (const { index, message } of choices) {
    if (!Array.isArray(message.tool_calls)) continue
    const reader = new CallStateReader()
    reader.read(index, message.tool_calls)
    reader.keep(keeper)
  }
}

const noCompletion = (): GatewayError =>
  new GatewayError('upstream_invalid_response', { cause: new UpstreamFailure('NO_COMPLETION') })

/** An exception of work that only reads the upstream's data means a bad reply. */
function expectSound<Value>(work: () => Value): Value {
  try {
    return work()
  } catch (cause) {
    const known = cause instanceof GatewayError || cause instanceof UpstreamError
    throw known ? cause : new GatewayError('upstream_invalid_response', { cause })
  }
}

/** On the event loop it would hold up other calls. */
const isLarge = (bytes: Buffer): boolean => bytes.length > LARGE.bytes

/** Continues with a value, at once unless it is a promise: nearly all replies are short. */
function after<Value>(value: Value | Promise<Value>, next: (value: Value) => void | Promise<void>): void | Promise<void> {
  return value instanceof Promise ? value.then(next) : next(value)
}
