import type { GatewayError } from '../../../errors.ts'
import { chatReply } from '../../../http/endpoints/chat/reply.ts'
import { WholeReader } from '../../../upstream/readers/whole.ts'
import type { Call, ChatChunk, ChatCompletion, Provider, Translator, UpstreamEvent, Usage } from '../../api.ts'
import { type Bytes, isBytes } from '../script.ts'
import { testAttempt, testCall } from '../test-call.ts'
import { runStream } from './run-stream.ts'
import { toClient } from './to-client.ts'

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
