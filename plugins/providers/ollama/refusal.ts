import { parseRecord, type UpstreamRefusal } from 'unified-model-gateway/plugin'

/** Causes that only an error's message names. */
const CAUSES: readonly (readonly [message: RegExp, meaning: UpstreamRefusal])[] = [
  [
    /(?:exceeds|longer than).* context(?: length|$)|prompt too long/i,
    { status: 400, code: 'context_length_exceeded', param: 'messages' },
  ],
  [/server busy|maximum pending requests/i, { status: 503 }],
]

/** Reads an error reply: `{"error": "<message>"}`. A reply of a proxy, without it, is read by its status. */
export function toRefusal({ status, body }: { readonly status: number; readonly body: string }): UpstreamRefusal {
  const { error } = parseRecord(body) ?? {}
  return typeof error === 'string' ? meaningOf(error, status) : { status }
}

/** The refusal of an error, by its message or else by its status. */
export function meaningOf(message: string, status: number): UpstreamRefusal {
  const cause = CAUSES.find(([pattern]) => pattern.test(message))?.[1]
  return { ...(cause ?? { status }), ...(message && { message }) }
}
