import { isRecord, parseRecord, textOf, type UpstreamRefusal } from 'unified-model-gateway/plugin'

/** Parrot's kinds of trouble in OpenAI's terms; other kinds are read by the status. */
const KINDS: Readonly<Record<string, UpstreamRefusal>> = {
  too_long: { status: 400, code: 'context_length_exceeded', param: 'messages' },
  broke: { status: 429, code: 'insufficient_quota' },
  tired: { status: 503 },
}

/** Reads an error reply. A reply of a proxy, without Parrot's body, is read by its status. */
export function toRefusal({ status, body }: { readonly status: number; readonly body: string }): UpstreamRefusal {
  return meaningOf(parseRecord(body)?.trouble, status)
}

/** Reads the `trouble` of an error, inside a stream too. */
export function meaningOf(trouble: unknown, status: number): UpstreamRefusal {
  const { kind, words } = isRecord(trouble) ? trouble : {}
  return { ...(KINDS[textOf(kind)] ?? { status }), ...(textOf(words) && { message: textOf(words) }) }
}
