import { isRecord, parseRecord } from '../sdk/json.ts'

/** The names under which upstreams write and expect reasoning. */
export const REASONING_FIELDS = ['reasoning_content', 'reasoning'] as const

/** One of the names of reasoning. */
export type ReasoningField = (typeof REASONING_FIELDS)[number]

/**
 * What an upstream needs back with the next turn. Clients keep it unread: of the Messages API as the signature of a thinking block or the
 * data of a redacted one, of the Responses API as the `encrypted_content` of a reasoning item.
 */
export interface UpstreamState {
  /** The member of the message that had the reasoning. */
  readonly field?: ReasoningField
  /** The `extra_content` of the tool call that follows. */
  readonly extra?: Readonly<Record<string, unknown>>
}

/** Begins each state; Anthropic's signatures and OpenAI's encrypted contents are base64, which has no dot. */
export const STATE_PREFIX = 'umg1.'

/** A state as a text. */
export const writeState = (state: UpstreamState): string =>
  STATE_PREFIX + Buffer.from(JSON.stringify(state)).toString('base64url')

/** The state in a text; undefined for the signature of a vendor. */
export function readState(text: unknown): UpstreamState | undefined {
  if (typeof text !== 'string' || !text.startsWith(STATE_PREFIX)) return undefined
  const { field, extra } = parseRecord(Buffer.from(text.slice(STATE_PREFIX.length), 'base64url').toString()) ?? {}
  const known = REASONING_FIELDS.find((name) => name === field)
  return { ...(known && { field: known }), ...(isRecord(extra) && { extra }) }
}
