import { isRecord, parseRecord, textOf, UpstreamError, type UpstreamRefusal } from 'unified-model-gateway/plugin'
import type { WireError } from './wire.ts'

/** The status of each `error.type` (platform.claude.com, "Errors"), in OpenAI's terms for overload and exhausted credit. */
const TYPES: ReadonlyMap<unknown, Omit<UpstreamRefusal, 'message'>> = new Map([
  ['invalid_request_error', { status: 400 }],
  ['authentication_error', { status: 401 }],
  ['billing_error', { status: 429, code: 'insufficient_quota' }],
  ['permission_error', { status: 403 }],
  ['not_found_error', { status: 404 }],
  ['request_too_large', { status: 413 }],
  ['rate_limit_error', { status: 429 }],
  ['api_error', { status: 500 }],
  ['timeout_error', { status: 504 }],
  ['overloaded_error', { status: 503 }],
])

/** Causes of an `invalid_request_error` that only its message names. */
const CAUSES: readonly (readonly [message: RegExp, meaning: UpstreamRefusal])[] = [
  [/credit balance is too low|API usage limits/i, { status: 429, code: 'insufficient_quota' }],
  [/prompt is too long|exceed context limit/i, { status: 400, code: 'context_length_exceeded', param: 'messages' }],
  [/content filtering policy/i, { status: 400, code: 'content_filter' }],
]

/** Reads an error reply. A reply of a proxy, without Anthropic's body, is read by its status. */
export function toRefusal(reply: { readonly status: number; readonly body: string }): UpstreamRefusal {
  const { error } = parseRecord(reply.body) ?? {}
  const status = reply.status === 529 ? 503 : reply.status
  return isRecord(error) ? meaningOf(error, status) : { status }
}

/** Reads an error in a stream, or in a reply of status 200. */
export function toUpstreamError(error: WireError | undefined): UpstreamError {
  return new UpstreamError(meaningOf(error ?? {}, 500))
}

function meaningOf(error: WireError, status: number): UpstreamRefusal {
  const message = textOf(error.message)
  const isInvalid = error.type === 'invalid_request_error'
  const cause = isInvalid && CAUSES.find(([pattern]) => pattern.test(message))?.[1]
  // It is also the type of a 422.
  const known = isInvalid && status === 422 ? undefined : TYPES.get(error.type)
  return { ...(cause || (known ?? { status })), ...(message && { message }) }
}
