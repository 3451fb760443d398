import type { UpstreamRefusal } from '../../sdk/api.ts'
import { refusalOf } from '../../sdk/refusals.ts'
import type { EventKind, EventReader, StreamedCall } from '../format.ts'
import { UsageReport } from '../usage-report.ts'
import { writtenLength } from '../written-text.ts'
import { parseUnencoded } from './encoded-media.ts'

/** An event of OpenAI's endpoints for images and audio. */
interface MediaEvent {
  readonly type?: unknown
  readonly error?: unknown
  readonly usage?: unknown
}

/** Reads streams of images and audio: each event has a `type`, and the last one of a picture or a recording has a type of its own. */
export class MediaEventReader implements EventReader {
  readonly #last: string
  readonly #usageOf: (event: object) => unknown
  finished = false
  readonly report: UsageReport
  refusal: UpstreamRefusal | undefined

  /** `last`: how the type of a last event ends. */
  constructor(last: string, usageOf: (event: object) => unknown, call: StreamedCall) {
    this.report = new UsageReport(call)
    this.#last = last
    this.#usageOf = usageOf
  }

  read(data: string, named: string): EventKind {
    if (data.trim() === '') return 'drop'
    if (data.startsWith('[DONE]')) return 'last'
    const event = parseUnencoded(data) as MediaEvent | undefined
    if (event === undefined) return 'malformed'
    const type = typeof event.type === 'string' ? event.type : named
    if (event.error != null || type === 'error') {
      this.refusal = refusalOf(event)
      return 'error'
    }
    // Several pictures have a last event each.
    this.finished ||= type.endsWith(this.#last)
    if (type.endsWith('.delta')) this.report.wrote(writtenLength(data))
    this.report.read(this.#usageOf(event), type.endsWith(this.#last))
    return 'pass'
  }

  isMeaningful(): boolean {
    return true
  }
}
