import { chatReply } from '../../../http/endpoints/chat/reply.ts'
import { TranslatedReader } from '../../../upstream/readers/translated.ts'
import { VerbatimReader } from '../../../upstream/readers/verbatim.ts'
import type { Call, Translator, UpstreamEvent } from '../../api.ts'
import { type Bytes, isBytes } from '../script.ts'
import { CollectingSink } from './collecting-sink.ts'
import { toClient } from './to-client.ts'

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

function readerFor({ call, translator }: Listener, relay: CollectingSink, pieces: readonly (Bytes | UpstreamEvent)[]) {
  const plan = { relay, transforms: [], hold: false }
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
