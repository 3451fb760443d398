import type { IncomingHttpHeaders } from 'node:http'
import type { Sampling } from './trace-settings.ts'

/** The span that a request continues, by W3C's header `traceparent`: https://www.w3.org/TR/trace-context/ */
export interface ParentSpan {
  /** 32 hexadecimal digits. */
  readonly traceId: string
  /** 16 hexadecimal digits. */
  readonly spanId: string
  readonly isSampled: boolean
  /** The header `tracestate`, if it is valid. */
  readonly state: string | undefined
}

/** Later versions may append fields. */
const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/

/** What must be passed on, in characters; longer ones are dropped. */
const MAX_STATE = 512
const STATE = /^[\x20-\x7e]+$/

/** The span that a request continues; undefined if it has none, or a header that is not valid. */
export function parentOf({ traceparent, tracestate }: IncomingHttpHeaders): ParentSpan | undefined {
  if (typeof traceparent !== 'string') return undefined
  const [, version, traceId, spanId, flags, more] = TRACEPARENT.exec(traceparent) ?? []
  if (traceId === undefined || (version === '00' && more !== undefined)) return undefined
  const isValid = typeof tracestate === 'string' && tracestate.length <= MAX_STATE && STATE.test(tracestate)
  const isSampled = (Number.parseInt(flags!, 16) & 1) === 1
  return { traceId, spanId: spanId!, isSampled, state: isValid ? tracestate : undefined }
}

/** The value of `traceparent` for requests below a span. */
export function traceparentOf(traceId: string, spanId: string, isSampled: boolean): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`
}

/** Whether a call is traced. All processes decide alike for one trace: by its last 56 bits, which are random in ids of level 2. */
export function isSampled({ ratio, isParentBased }: Sampling, traceId: string, parent: ParentSpan | undefined): boolean {
  if (isParentBased && parent !== undefined) return parent.isSampled
  return Number.parseInt(traceId.slice(-14), 16) >= (1 - ratio) * 2 ** 56
}
