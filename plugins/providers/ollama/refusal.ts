import { parseRecord, type UpstreamRefusal } from 'unified-model-gateway/plugin'

/** Causes that Ollama tells in words only. */
const CAUSES: readonly (readonly [words: RegExp, meaning: UpstreamRefusal])[] = [
  [
    /(?:exceeds|longer than).* context(?: length|$)|prompt too long/i,
    { status: 400, code: 'context_length_exceeded', param: 'messages' },
  ],
  [/server busy|maximum pending requests/i, { status: 503 }],
]

/** What a reply with an error status means: `{"error": "<words>"}`. */
export function toRefusal({ status, body }: { readonly status: number; readonly body: string }): UpstreamRefusal {
  const { error } = parseRecord(body) ?? {}
  return typeof error === 'string' ? meaningOf(error, status) : { status }
}

/** What an error means, by its words or else by its status. */
export function meaningOf(message: string, status: number): UpstreamRefusal {
  const cause = CAUSES.find(([words]) => words.test(message))?.[1]
  return { ...(cause ?? { status }), ...(message && { message }) }
}
