import { isRecord, parseRecord, UpstreamError, type UpstreamRefusal } from 'unified-model-gateway/plugin'
import type { WireError } from './wire.ts'

/** The status of each `error.type` (platform.claude.com, "Errors"); 529 and an empty purse in OpenAI's terms. */
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

/** Causes that Anthropic tells in words only, within an `invalid_request_error`. */
const CAUSES: readonly (readonly [words: RegExp, meaning: UpstreamRefusal])[] = [
  [/credit balance is too low|API usage limits/i, { status: 429, code: 'insufficient_quota' }],
  [/prompt is too long|exceed context limit/i, { status: 400, code: 'context_length_exceeded', param: 'messages' }],
  [/content filtering policy/i, { status: 400, code: 'content_filter' }],
]

/** What a reply with an error status means. A proxy in front of Anthropic may have made it: then the status has to say. */
export function toRefusal(reply: { readonly status: number; readonly body: string }): UpstreamRefusal {
  const { error } = parseRecord(reply.body) ?? {}
  const status = reply.status === 529 ? 503 : reply.status
  return isRecord(error) ? meaningOf(error, status) : { status }
}

/** What an error inside a stream, or in a reply of status 200, means. */
export function toUpstreamError(error: WireError | undefined): UpstreamError {
  return new UpstreamError(meaningOf(error ?? {}, 500))
}

function meaningOf(error: WireError, status: number): UpstreamRefusal {
  const message = typeof error.message === 'string' ? error.message : ''
  const isInvalid = error.type === 'invalid_request_error'
  const cause = isInvalid && CAUSES.find(([words]) => words.test(message))?.[1]
  // Of a 422 too this is the type.
  const known = isInvalid && status === 422 ? undefined : TYPES.get(error.type)
  return { ...(cause || (known ?? { status })), ...(message && { message }) }
}
