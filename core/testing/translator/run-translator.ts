import { GatewayError } from '../../errors.ts'
import { chatReply } from '../../protocol/chat-completions.ts'
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
import { TranslatedReader } from '../../upstream/readers/translated.ts'
import { VerbatimReader } from '../../upstream/readers/verbatim.ts'
import { WholeReader } from '../../upstream/readers/whole.ts'
import { testAttempt, testCall } from '../doubles.ts'
import { type Bytes, isBytes } from '../script.ts'
import { CollectingSink } from './collecting-sink.ts'

/** A whole reply of an upstream: its bytes, or what its JSON says. */
export interface WholeReply {
  readonly whole: object | Bytes
}

/** A stream of an upstream: its bytes, in pieces of any size, or its events as a decoder would give them. */
export interface StreamedReply {
  readonly stream: Bytes | readonly Bytes[] | readonly UpstreamEvent[]
}

/** What a client gets of a stream. */
export interface TranslatedStream {
  readonly chunks: readonly ChatChunk[]
  /** Whether `[DONE]` follows: the stream is whole. */
  readonly done: boolean
  /** Why it is not. */
  readonly failure: GatewayError | undefined
  /** What is charged; undefined where the upstream did not say. */
  readonly usage: Usage | undefined
}

/** What a client gets of a reply of this kind. */
export type Translated<Reply> = Reply extends WholeReply ? ChatCompletion : TranslatedStream

/** Fields of the client's request, laid over a minimal one. */
export type Asked = Readonly<Record<string, unknown>>

/**
 * What the client gets of an upstream's reply: through the gateway's own decoders and normaliser, without a server. A provider makes
 * a new translator for each run, or has none; a translator can be run once. Of a stream the usage chunk is asked for.
 *
 * Throws for a whole reply what the client would get, as a `GatewayError`.
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
    throw toClient(error)
  }
  return JSON.parse(reader.body.toString())
}

function translatorOf(subject: Provider | Translator, call: Call): Translator | undefined {
  return 'request' in subject ? subject.translator?.(call, testAttempt(call)) : subject
}

/** Who reads a stream. */
interface Listener {
  readonly call: Call
  /** Absent: the stream is passed through. */
  readonly translator: Translator | undefined
}

/** Reads a stream to its end, or as far as it can be read, as an attempt does. */
export function runStream(listener: Listener, stream: Bytes | readonly (Bytes | UpstreamEvent)[]): CollectingSink {
  const pieces = isBytes(stream) ? [stream] : stream
  const { translator } = listener
  const sink = new CollectingSink(translator === undefined ? 'latin1' : 'utf8')
  const reader = readerFor(listener, sink, pieces)
  try {
    for (const piece of pieces) if (!sink.ended) reader.data(isBytes(piece) ? Buffer.from(piece) : Buffer.alloc(0))
    if (!sink.ended) reader.end()
  } catch (error) {
    sink.failure = toClient(error)
  }
  sink.usage = reader.usage
  return sink
}

function readerFor({ call, translator }: Listener, stream: CollectingSink, pieces: readonly (Bytes | UpstreamEvent)[]) {
  const plan = { stream, transforms: [], hold: false }
  if (translator === undefined) return new VerbatimReader({ ...plan, format: chatReply, call })
  const events = pieces.filter((piece): piece is UpstreamEvent => !isBytes(piece))
  return new TranslatedReader({
    ...plan,
    translator: events.length === 0 ? translator : playing(events, translator),
    call: { model: call.model.id, includeUsage: call.includeUsage, choices: call.choices },
    done: chatReply.done ?? '',
  })
}

/** The same translator behind a decoder that gives these events, one for each piece that it is pushed. */
function playing(events: readonly UpstreamEvent[], translator: Translator): Translator {
  const left = [...events]
  return {
    completion: (body) => translator.completion(body),
    event: (event) => translator.event(event),
    end: () => translator.end?.() ?? [],
    get over() {
      return translator.over
    },
    decoder: () => ({ push: () => left.splice(0, 1), end: () => [] }),
  }
}

/** What a client is told of an error in a reply, as at the end of an attempt. Rethrows what is no fault of the upstream. */
export function toClient(error: unknown): GatewayError {
  if (error instanceof UpstreamError)
    return refusalError(error.refusal, { asked: 'test/model', passedThrough: undefined, hidden: [] })
  if (error instanceof GatewayError) return error
  throw error
}
