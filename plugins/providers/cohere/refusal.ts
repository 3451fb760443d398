import { parseRecord, type UpstreamRefusal } from 'unified-model-gateway/plugin'

/** Statuses that mean something else elsewhere ("Errors", docs.cohere.com; `InvalidToken` in cohere-openapi.yaml). */
const STATUSES: ReadonlyMap<number, UpstreamRefusal> = new Map([
  [402, { status: 429, code: 'insufficient_quota' }],
  // The prompt or the reply has a word in it that is on a list.
  [498, { status: 400, code: 'content_filter' }],
  [499, { status: 503 }],
])

/** Causes that Cohere tells in words only. */
const CAUSES: readonly (readonly [status: number, words: RegExp, meaning: UpstreamRefusal])[] = [
  [400, /too many tokens(?!: max tokens)/i, { status: 400, code: 'context_length_exceeded', param: 'messages' }],
  [429, /API calls \/ month/i, { status: 429, code: 'insufficient_quota' }],
]

/** What a reply with an error status means. */
export function toRefusal({ status, body }: { readonly status: number; readonly body: string }): UpstreamRefusal {
  const { message } = parseRecord(body) ?? {}
  const words = typeof message === 'string' ? message : ''
  const cause = CAUSES.find(([known, told]) => known === status && told.test(words))?.[2]
  return { ...(cause ?? STATUSES.get(status) ?? { status }), ...(words && { message: words }) }
}
