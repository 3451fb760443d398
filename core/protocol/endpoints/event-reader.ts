import type { UpstreamRefusal, Usage } from '../../sdk/api.ts'
import { isRecord } from '../../sdk/json.ts'
import { refusalOf } from '../../sdk/refusals.ts'
import type { EventKind, EventReader, StreamedCall } from '../format.ts'
import { isWhole, type MadeTokens, sumOfUsage } from '../usage.ts'
import { UsageReport } from '../usage-report.ts'
import { writtenLength } from '../written-text.ts'
import { parseUnencoded } from './encoded-media.ts'

/** An event of OpenAI's endpoints for images and audio. */
interface MediaEvent extends Readonly<Record<string, unknown>> {
  readonly type?: unknown
  readonly error?: unknown
  readonly usage?: unknown
}

/** The events of an endpoint. */
export interface MediaEvents {
  /** How the type of an event with a part of the answer ends. */
  readonly part: string
  /** How the type of a last event ends. */
  readonly last: string
  /** The members of these events that hold what the client asked for, as text. */
  readonly content: readonly string[]
}

/** How an endpoint streams. */
interface MediaStream {
  readonly events: MediaEvents
  /** The usage in an event, in the terms of chat completions. */
  usage(event: object): unknown
  /** Absent: the content is text. */
  readonly makes: MadeTokens | undefined
}

/**
 * Reads streams of images and audio: each event has a `type`, or is a chunk with `choices`, and the last one of a picture or a recording has a type of its
 * own. A stream without any content is no reply.
 */
export class MediaEventReader implements EventReader {
  readonly #stream: MediaStream
  /** Of the pictures so far: each says its own. */
  #used: Usage | undefined
  #hasContent = false
  finished = false
  readonly report: UsageReport
  refusal: UpstreamRefusal | undefined

  constructor(stream: MediaStream, call: StreamedCall) {
    this.report = new UsageReport(call)
    this.#stream = stream
  }

  read(data: string, named: string): EventKind {
    if (data.trim() === '') return 'drop'
    if (data.startsWith('[DONE]')) return this.finished ? 'last' : 'cut'
    const event = parseUnencoded(data) as MediaEvent | undefined
    if (event === undefined) return 'malformed'
    const { events, makes } = this.#stream
    const { part, last, content } = events
    const type = typeof event.type === 'string' ? event.type : named
    if (event.error != null || type === 'error') {
      this.refusal = refusalOf(event)
      return 'error'
    }
    const isLast = type.endsWith(last)
    for (const name of content) {
      if (event[name] == null) continue
      if (typeof event[name] !== 'string') return 'malformed'
      // Clients do not read events of an unknown type.
      this.#hasContent ||= isLast || type.endsWith(part)
      if (makes !== undefined) this.report.made(makes)
    }
    // vLLM streams transcripts as chunks of chat completions (vllm-project/vllm, examples/online_serving/openai_transcription_client.py, 2026-11-26).
    if (type === '') {
      if (!Array.isArray(event.choices)) return 'malformed'
      this.#hasContent ||= event.choices.length > 0
      this.finished ||= event.choices.some((choice) => isRecord(choice) && choice.finish_reason != null)
    }
    if (isLast && !this.#hasContent) return 'malformed'
    // Several pictures have a last event each.
    this.finished ||= isLast
    if (type.endsWith('.delta')) this.report.wrote(writtenLength(data))
    this.report.read(this.#usageOf(event, isLast), isLast)
    return 'pass'
  }

  #usageOf(event: object, isLast: boolean): unknown {
    const usage = this.#stream.usage(event) as Partial<Usage> | undefined
    if (!isLast || !isWhole(usage)) return usage
    this.#used = this.#used === undefined ? usage : sumOfUsage(this.#used, usage)
    return this.#used
  }

  isMeaningful(): boolean {
    return this.#hasContent
  }
}
