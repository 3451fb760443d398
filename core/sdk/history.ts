import type { ChatMessage } from './chat.ts'
import { isRecord, textOf } from './json.ts'

/**
 * What an upstream that speaks OpenAI's protocol wants back of one of its replies. Clients of Messages and Responses keep it unread; it comes back in
 * `extra_content.umg` of the assistant's message, for the provider whose `stateOwner` made it.
 */
export interface KeptTurn {
  /** `Provider.stateOwner` of who made it. */
  readonly owner: string
  /** The upstream's name of the model that made it. */
  readonly model: string
  /** Members of the reply's message: `reasoning_content`, `reasoning`, `reasoning_details`. */
  readonly message: Readonly<Record<string, unknown>>
  /** The `extra_content` of its tool calls, by their numbers, from 0. */
  readonly calls?: Readonly<Record<string, unknown>>
}

/** What `owner` has made of a message's turn; undefined if another one made it. */
export function readKeptTurn({ extra_content: extra }: ChatMessage, owner: string): KeptTurn | undefined {
  const kept = isRecord(extra) && isRecord(extra.umg) ? extra.umg : {}
  if (kept.owner !== owner || !isRecord(kept.message)) return undefined
  return { owner, model: textOf(kept.model), message: kept.message, ...(isRecord(kept.calls) && { calls: kept.calls }) }
}
