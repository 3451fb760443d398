import { parseRecord, textOf, UpstreamError, type UpstreamRefusal } from 'unified-model-gateway/plugin'

/** The statuses whose meaning differs from OpenAI's ("Errors", docs.cohere.com; `InvalidToken` in cohere-openapi.yaml). */
const STATUSES: ReadonlyMap<number, UpstreamRefusal> = new Map([
  [402, { status: 429, code: 'insufficient_quota' }],
  // The prompt or the reply contains a blocked word.
  [498, { status: 400, code: 'content_filter' }],
  [499, { status: 503 }],
])

/** Causes that only an error's message names, by its status. */
const CAUSES: readonly (readonly [status: number, message: RegExp, meaning: UpstreamRefusal])[] = [
  [400, /too many tokens(?!: max tokens)/i, { status: 400, code: 'context_length_exceeded', param: 'messages' }],
  [429, /API calls \/ month/i, { status: 429, code: 'insufficient_quota' }],
]

/** Reads an error reply. A reply of a proxy, without Cohere's body, is read by its status. */
export function toRefusal({ status, body }: { readonly status: number; readonly body: string }): UpstreamRefusal {
  const message = textOf(parseRecord(body)?.message)
  const cause = CAUSES.find(([when, pattern]) => when === status && pattern.test(message))?.[2]
  return { ...(cause ?? STATUSES.get(status) ?? { status }), ...(message && { message }) }
}

/** The finish reasons of unfinished replies. */
const UNFINISHED: ReadonlyMap<unknown, number> = new Map([
  ['ERROR', 502],
  ['TIMEOUT', 504],
])

/** Throws `UpstreamError` for the finish reason, or the error beside it, of an unfinished reply. */
export function expectFinished(reason: unknown, error: unknown): void {
  const status = UNFINISHED.get(reason) ?? (textOf(error) === '' ? undefined : 502)
  if (status !== undefined) throw new UpstreamError({ status, message: typeof error === 'string' ? error : String(reason) })
}
