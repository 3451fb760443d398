import { isRecord, parseRecord, textOf, UpstreamError, type UpstreamRefusal } from 'unified-model-gateway/plugin'
import { toRefusal as toGoogleRefusal } from './refusal.ts'

/**
 * The codes of the Interactions API ("API errors", ai.google.dev; read 2026-11-27), as the gateway's refusals. A code that is not among them is the name of an HTTP
 * status, which the reply has.
 */
const CODES: ReadonlyMap<string, UpstreamRefusal> = new Map<string, UpstreamRefusal>([
  ['invalid_request', { status: 400 }],
  ['failed_precondition', { status: 400 }],
  ['out_of_range', { status: 400 }],
  ['parameter_unknown', { status: 400 }],
  ['authentication', { status: 401 }],
  ['payment_required', { status: 429, code: 'insufficient_quota' }],
  ['permission_denied', { status: 403 }],
  ['not_found', { status: 404 }],
  ['model_not_found', { status: 404 }],
  ['already_exists', { status: 409 }],
  ['aborted', { status: 409 }],
  ['rate_limit_exceeded', { status: 429 }],
  ['too_many_requests', { status: 429 }],
  ['quota_exceeded', { status: 429, code: 'insufficient_quota' }],
  ['cancelled', { status: 503 }],
  ['api_error', { status: 500 }],
  ['unimplemented', { status: 500 }],
  ['service_unavailable', { status: 503 }],
  ['deadline_exceeded', { status: 504 }],
])

/** What Google's filters have blocked: the codes of the same page. */
const BLOCKED: ReadonlySet<unknown> = new Set([
  'safety',
  'recitation',
  'language',
  'prohibited_content',
  'spii',
  'blocklist',
  'image_safety',
  'image_prohibited_content',
  'image_recitation',
  'image_other',
  'content_blocked',
])

/** Whether an error says that a filter has blocked the answer: its end is that, not a failure. */
export const isBlocked = (error: unknown): boolean => isRecord(error) && BLOCKED.has(error.code)

/** Reads an error reply. What is not one of this API's own is read as the other one's. */
export function toRefusal(reply: { readonly status: number; readonly body: string }): UpstreamRefusal {
  const error = parseRecord(reply.body)?.error
  return isRecord(error) && typeof error.code === 'string' ? meaningOf(error, reply.status) : toGoogleRefusal(reply)
}

/** The failure in a reply or an event of a stream. */
export const failureOf = (error: unknown): UpstreamError => new UpstreamError(meaningOf(isRecord(error) ? error : {}, 500))

/** `status`: for a code that says none. */
function meaningOf(error: Readonly<Record<string, unknown>>, status: number): UpstreamRefusal {
  const message = textOf(error.message)
  const known = isBlocked(error) ? { status: 400, code: 'content_filter' } : CODES.get(textOf(error.code))
  if (known?.code !== undefined) return { ...known, ...(message && { message }) }
  // Some causes are named by the message only, in the words of generateContent.
  return toGoogleRefusal({ status, body: JSON.stringify({ error: { code: known?.status ?? status, message } }) })
}
