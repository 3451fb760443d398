import type { ChatMessage, ChatRequest } from './chat.ts'
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

/** The `extra_content` of tool calls in earlier replies, by the ids of the calls. */
export type CallStates = ReadonlyMap<string, Readonly<Record<string, unknown>>>

/** The tool calls of a message; none if it has no list of them. */
const callsOf = ({ tool_calls: calls }: ChatMessage) => (Array.isArray(calls) ? calls.filter(isRecord) : [])

/** The ids of the tool calls in a request of which the client may have dropped the `extra_content`: of messages in which no call has one. */
export const idsWithoutState = ({ messages }: Readonly<ChatRequest>): readonly string[] =>
  messages.flatMap((message) => {
    const calls = callsOf(message)
    return calls.some((call) => call.extra_content != null) ? [] : calls.map(({ id }) => id)
  })

/** A request whose tool calls have the `extra_content` that the client has dropped; the same one if nothing was kept. */
export function withCallStates(request: Readonly<ChatRequest>, states: CallStates | undefined): Readonly<ChatRequest> {
  if (states === undefined || states.size === 0) return request
  const messages = request.messages.map((message) => {
    const calls = callsOf(message)
    if (!calls.some(({ id }) => states.has(id)) || calls.some((call) => call.extra_content != null)) return message
    const restored = calls.map((call) => (states.has(call.id) ? { ...call, extra_content: states.get(call.id)! } : call))
    return { ...message, tool_calls: restored }
  })
  return { ...request, messages }
}
