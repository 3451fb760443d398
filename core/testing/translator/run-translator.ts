import { GatewayError } from '../../errors.ts'
import { chatReply } from '../../protocol/chat-completions.ts'
import { isWhole } from '../../protocol/usage.ts'
import {
  type Call,
  type ChatChunk,
  type ChatCompletion,
  type Provider,
  type Translator,
  UpstreamError,
  type UpstreamEvent,
  type Usage,
} from '../../sdk/api.ts'
import { refusalError } from '../../upstream/failures.ts'
import { ChunkWriter, TranslatedReader } from '../../upstream/readers/translated.ts'
import { VerbatimReader } from '../../upstream/readers/verbatim.ts'
import { WholeReader } from '../../upstream/readers/whole.ts'
import { testAttempt, testCall } from '../gateway/doubles.ts'
import { type Bytes, isBytes } from '../upstream/script.ts'
import { CollectingSink } from './collecting-sink.ts'

/** A whole reply of an upstream: its bytes, or a value that is sent as JSON. */
export interface WholeReply {
  readonly whole: object | Bytes
}

/** A stream of an upstream: its bytes, in pieces of any size, or its events as a decoder returns them. */
export interface StreamedReply {
  readonly stream: Bytes | readonly Bytes[] | readonly UpstreamEvent[]
}

/** A stream as the client gets it. */
export interface TranslatedStream {
  readonly chunks: readonly ChatChunk[]
  /** Whether the stream is complete: it ends with `[DONE]`. */
  readonly done: boolean
  /** The error of a stream that is not complete. */
  readonly failure: GatewayError | undefined
  /** The usage that is charged; undefined if the upstream sent none. */
  readonly usage: Usage | undefined
}

/** The client's reply: a completion, or a stream. */
export type Translated<Reply> = Reply extends WholeReply ? ChatCompletion : TranslatedStream

/** Fields of the client's request, added to a minimal one. */
export type Asked = Readonly<Record<string, unknown>>

/**
 * Returns the client's reply for an upstream's reply: by the gateway's own decoders and normaliser, without a server. For a provider,
 * each run uses a new translator, or none if the provider has none; a `Translator` can be run once. A stream requests usage.
 *
 * Throws the client's error for a whole reply, as a `GatewayError`.
 *
 * @example
 * runTranslator(provider, { whole: { text: 'Hello' } }).choices[0].message.content // 'Hello'
 * runTranslator(provider, { stream: readFileSync('tools.sse') }).chunks
 */
export function runTranslator<Reply extends WholeReply | StreamedReply>(
  subject: Provider | Translator,
  reply: Reply,
  asked: Asked = {},
): Translated<Reply> {
  return ('whole' in reply ? runWhole(subject, reply, asked) : runStreamed(subject, reply, asked)) as Translated<Reply>
}

function runStreamed(subject: Provider | Translator, { stream }: StreamedReply, asked: Asked): TranslatedStream {
  const call = testCall({ stream: true, stream_options: { include_usage: true }, ...asked })
  const sink = runStream({ call, translator: translatorOf(subject, call) }, stream)
  return { chunks: sink.chunks, done: sink.ended, failure: sink.failure, usage: sink.usage }
}

function runWhole(subject: Provider | Translator, { whole }: WholeReply, asked: Asked): ChatCompletion {
  const call = testCall(asked)
  const translator = translatorOf(subject, call)
  const reader = new WholeReader({ format: chatReply, call, headers: {}, translator, transforms: [], closeDelimited: false })
  try {
    reader.data(Buffer.from(isBytes(whole) ? whole : JSON.stringify(whole)))
    reader.end()
  } catch (error) {
    throw toClientError(error)
  }
  return JSON.parse(reader.body.toString())
}

function translatorOf(subject: Provider | Translator, call: Call): Translator | undefined {
  return 'request' in subject ? subject.translator?.(call, testAttempt(call)) : subject
}

/** The call that a stream answers, and the translator that reads it. */
interface StreamedCall {
  readonly call: Call
  /** Absent: the stream is passed through. */
  readonly translator: Translator | undefined
}

/** Reads a stream to its end or its first error, as an attempt does. */
export function runStream(streamed: StreamedCall, stream: Bytes | readonly (Bytes | UpstreamEvent)[]): CollectingSink {
  const pieces = isBytes(stream) ? [stream] : stream
  const { translator } = streamed
  const sink = new CollectingSink(translator === undefined ? 'latin1' : 'utf8')
  const reader = readerFor(streamed, sink, pieces)
  try {
    for (const piece of pieces) if (!sink.ended) reader.data(isBytes(piece) ? Buffer.from(piece) : Buffer.alloc(0))
    if (!sink.ended) reader.end()
  } catch (error) {
    sink.failure = toClientError(error)
  }
  sink.usage = isWhole(reader.report.usage) ? reader.report.usage : undefined
  return sink
}

function readerFor({ call, translator }: StreamedCall, stream: CollectingSink, pieces: readonly (Bytes | UpstreamEvent)[]) {
  const plan = { stream, transforms: [], hold: false }
  if (translator === undefined) return new VerbatimReader({ ...plan, format: chatReply, call })
  const events = pieces.filter((piece): piece is UpstreamEvent => !isBytes(piece))
  return new TranslatedReader({
    ...plan,
    translator: events.length === 0 ? translator : withEvents(events, translator),
    call: { model: call.model.id, includeUsage: call.includeUsage, choices: call.choices, size: call.size },
    writer: new ChunkWriter(),
  })
}

/** The translator with a decoder that returns these events, one for each pushed piece. */
function withEvents(events: readonly UpstreamEvent[], translator: Translator): Translator {
  const left = [...events]
  return {
    completion: (body) => translator.completion(body),
    event: (event) => translator.event(event),
    end: () => translator.end?.() ?? [],
    get over() {
      return translator.over
    },
    usage: (body) => translator.usage?.(body),
    decoder: () => ({ push: () => left.splice(0, 1), end: () => [] }),
  }
}

/** The client's error for an error in a reply. Rethrows what is not an error of the upstream. */
function toClientError(error: unknown): GatewayError {
  if (error instanceof UpstreamError)
    return refusalError(error.refusal, { asked: 'test/model', passedThrough: undefined, hidden: [] })
  if (error instanceof GatewayError) return error
  throw error
}
