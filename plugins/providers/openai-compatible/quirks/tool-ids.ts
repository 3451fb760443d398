import { type ChatMessage, digestIds, type IdRule, type ToolCall, ToolIds } from 'unified-model-gateway/plugin'
import type { Quirk } from './quirk.ts'

/**
 * The vendor takes ids of tool calls of nine letters and digits only: "Tool call id was … but must be a-z, A-Z, 0-9, with a length of 9"
 * (400, code 3280). Conversations that began at another vendor have longer ones.
 */
export const shortToolIds: Quirk = {
  name: 'short-tool-ids',
  concerns: ['tool_calls', 'tool_call_id'],

  request({ messages }) {
    const fitted = withToolIds(messages, digestIds(/^[a-zA-Z0-9]{9}$/, 9))
    return fitted === messages ? {} : { messages: fitted }
  },
}

/** The messages with ids that the rule allows, the same in calls and results; the same list if all of them are allowed already. */
function withToolIds(messages: ChatMessage[], rule: IdRule): ChatMessage[] {
  const ids = new ToolIds(rule)
  /** The ids of calls that wait for their results, by the client's ids. */
  const waiting = new Map<string, string[]>()
  const call = (one: ToolCall): ToolCall => {
    const id = ids.take(one.id)
    waiting.set(one.id, [...(waiting.get(one.id) ?? []), id])
    return id === one.id ? one : { ...one, id }
  }
  const message = (one: ChatMessage): ChatMessage => {
    if (one.tool_calls != null) return withMember(one, 'tool_calls', one.tool_calls.map(call))
    if (one.tool_call_id === undefined) return one
    return withMember(one, 'tool_call_id', waiting.get(one.tool_call_id)?.shift() ?? rule.fit(one.tool_call_id))
  }
  const fitted = messages.map(message)
  return fitted.every((one, index) => one === messages[index]) ? messages : fitted
}

/** The message itself if the member has the same value, or the same elements, already. */
function withMember(message: ChatMessage, name: 'tool_calls' | 'tool_call_id', value: ToolCall[] | string): ChatMessage {
  const known = message[name]
  const isSame = Array.isArray(value) ? value.every((one, index) => one === (known as ToolCall[])[index]) : value === known
  return isSame ? message : { ...message, [name]: value }
}
