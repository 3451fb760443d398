import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Call, ReplyTransform } from '../sdk/api.ts'
import { CallContent, type ContentRecord } from './content.ts'
import { isSampled, type ParentSpan, parentOf, traceparentOf } from './trace-context.ts'
import type { TracingSettings } from './trace-settings.ts'

/** What the row of a call lacks for its spans. It is JSON: another process may make them. */
export interface TraceRecord {
  readonly traceId: string
  /** Of the call itself. */
  readonly spanId: string
  /** The client's span. */
  readonly parentId?: string
  /** The header `tracestate` of the request. */
  readonly state?: string
  /** The span ids of the attempts, in their order. */
  readonly attempts: readonly string[]
  /** The index of the attempt whose tokens the row has. */
  readonly charged?: number
  /** Absent: it was not captured. */
  readonly content?: ContentRecord
}

/** While this number of records waits, some 16 MB, the content of further ones is left out. */
export const MAX_WITH_CONTENT = 500

/** The trace of a call that waits behind others. */
export function waitingTrace(trace: TraceRecord, ahead: number): TraceRecord {
  const { content, ...rest } = trace
  return ahead < MAX_WITH_CONTENT ? trace : rest
}

/** Begins the traces of calls. */
export class Tracer {
  readonly #settings: Pick<TracingSettings, 'sampling' | 'contentLimit'>

  constructor(settings: Pick<TracingSettings, 'sampling' | 'contentLimit'>) {
    this.#settings = settings
  }

  /** Begins the trace of a call, or continues its client's. `headers`: the request's. */
  begin(headers: IncomingHttpHeaders): CallTrace {
    const parent = parentOf(headers)
    const traceId = parent?.traceId ?? randomUUID().replaceAll('-', '')
    const { sampling, contentLimit } = this.#settings
    return new CallTrace({ traceId, parent, isSampled: isSampled(sampling, traceId, parent), contentLimit })
  }
}

interface TraceStart {
  readonly traceId: string
  readonly parent: ParentSpan | undefined
  readonly isSampled: boolean
  readonly contentLimit: number | undefined
}

/** The trace of one call: its ids, and those of its attempts. */
export class CallTrace {
  readonly traceId: string
  readonly spanId = newSpanId()
  readonly #parent: ParentSpan | undefined
  readonly #isSampled: boolean
  readonly #contentLimit: number | undefined
  readonly #attempts: string[] = []
  #current = ''
  #charged: number | undefined
  #content: CallContent | undefined

  constructor({ traceId, parent, isSampled, contentLimit }: TraceStart) {
    this.traceId = traceId
    this.#parent = parent
    this.#isSampled = isSampled
    this.#contentLimit = contentLimit
  }

  /** The links have changed the call as they will. `transforms`: theirs of the reply; what they leave of it is captured after them. */
  capture(call: Call, transforms: { readonly link: string; readonly transform: ReplyTransform }[]): void {
    // What other endpoints pass through would have to be translated to be read.
    if (!this.#isSampled || this.#contentLimit === undefined || call.endpoint !== 'chat.completions') return
    this.#content = new CallContent(call.large ? undefined : call.body, this.#contentLimit)
    transforms.push({ link: 'core', transform: this.#content.transform })
  }

  /** An attempt is about to begin. `headers`: those of its request to the upstream, which gets the context. */
  beginAttempt(headers: Record<string, string>): void {
    this.#current = this.#isSampled ? newSpanId() : this.spanId
    headers.traceparent = traceparentOf(this.traceId, this.#current, this.#isSampled)
    const state = this.#parent?.state
    if (state !== undefined) headers.tracestate = state
    this.#content?.restart()
  }

  /** The attempt has ended. `isCharged`: it used tokens. */
  endAttempt(isCharged: boolean): void {
    if (isCharged) this.#charged = this.#attempts.length
    this.#attempts.push(this.#current)
  }

  /** The record of a call that has ended; undefined if the call is not sampled. */
  get record(): TraceRecord | undefined {
    if (!this.#isSampled) return undefined
    const { traceId, spanId } = this
    return {
      traceId,
      spanId,
      ...(this.#parent && { parentId: this.#parent.spanId }),
      ...(this.#parent?.state !== undefined && { state: this.#parent.state }),
      attempts: this.#attempts,
      ...(this.#charged !== undefined && { charged: this.#charged }),
      ...(this.#content && { content: this.#content.record }),
    }
  }
}

/** Of a UUID, for which Node draws random bytes in advance: its last half has 62 random bits, and is never 0. */
function newSpanId(): string {
  const random = randomUUID()
  return random.slice(19, 23) + random.slice(24)
}
