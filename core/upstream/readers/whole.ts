import { GatewayError, UpstreamFailure } from '../../errors.ts'
import type { ReplyFormat } from '../../protocol/format.ts'
import { type Call, type ChatCompletion, type Translator, UpstreamError, type Usage } from '../../sdk/api.ts'
import { type BodyReader, type LinkTransform, transformCompletion } from './reader.ts'

/** Size limit of a whole reply, in bytes, decoded. */
const MAX_REPLY = 64 << 20

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
  /** Converts a completion to the client's protocol. Absent: the client knows completions. */
  readonly encode?: ((completion: ChatCompletion) => object) | undefined
}

/** Reads a reply that is not a stream. Its bytes stay unchanged unless a translator or a transform applies. */
export class WholeReader implements BodyReader {
  readonly #plan: WholePlan
  readonly #chunks: Buffer[] = []
  #size = 0
  usage: Usage | undefined
  /** The body for the client, after `end`. */
  body: Buffer = Buffer.alloc(0)

  constructor(plan: WholePlan) {
    this.#plan = plan
  }

  get estimatedTokens(): number {
    return this.#plan.format.generates ? Math.ceil(this.#size / 4) : 0
  }

  data(bytes: Buffer): void {
    this.#size += bytes.length
    if (this.#size > MAX_REPLY)
      throw new GatewayError('upstream_invalid_response', { cause: new UpstreamFailure('REPLY_TOO_LARGE') })
    this.#chunks.push(bytes)
  }

  end(): void {
    const bytes = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks)
    const { translator, transforms, encode } = this.#plan
    const passed = translator === undefined ? this.#checked(bytes) : bytes
    const completion = translator === undefined ? undefined : this.#translate(translator, bytes)
    this.body = transforms.some(({ transform }) => transform.completion)
      ? transformCompletion(completion ?? (this.#parse(passed) as ChatCompletion), transforms, encode)
      : toBytes(completion && encode ? encode(completion) : completion, passed)
  }

  #checked(bytes: Buffer): Buffer {
    const facts = this.#plan.format.whole(bytes)
    if (facts === undefined) throw this.#notAReply()
    if (facts.refusal !== undefined) throw new UpstreamError(facts.refusal)
    this.usage = facts.usage
    return facts.body ?? bytes
  }

  #translate(translator: Translator, bytes: Buffer): ChatCompletion {
    const body = this.#parse(bytes)
    try {
      const { format, call, headers } = this.#plan
      const translated = translator.completion(body, headers)
      this.usage = format.usage(translated)
      return format.normalise(translated, call) as ChatCompletion
    } catch (cause) {
      const known = cause instanceof GatewayError || cause instanceof UpstreamError
      throw known ? cause : new GatewayError('upstream_invalid_response', { cause })
    }
  }

  #parse(bytes: Buffer): unknown {
    try {
      return JSON.parse(bytes.toString('utf8'))
    } catch {
      throw this.#notAReply()
    }
  }

  #notAReply(): GatewayError {
    return this.#plan.closeDelimited
      ? new GatewayError('upstream_disconnected', { cause: new UpstreamFailure('BODY_CUT') })
      : new GatewayError('upstream_invalid_response', { cause: new UpstreamFailure('NO_COMPLETION') })
  }
}

const toBytes = (reply: object | undefined, bytes: Buffer): Buffer =>
  reply === undefined ? bytes : Buffer.from(JSON.stringify(reply))
