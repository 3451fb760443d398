import type { ChatRequest } from 'unified-model-gateway/plugin'

/** The most marks for the cache in a request: Anthropic and Bedrock answer 400 to more, and the latest are sent. */
const MAX_MARKS = 4

/** `cache_control` if a client set more of these marks than are sent, for the dropped parameters. */
export function surplusMarks({ messages, tools, cache_control: own }: Readonly<ChatRequest>): readonly string[] {
  let count = own == null ? 0 : 1
  for (const tool of tools ?? []) if (isMarked(tool)) count++
  for (const { content, tool_calls: calls } of messages) {
    for (const part of Array.isArray(content) ? content : []) if (isMarked(part)) count++
    for (const call of calls ?? []) if (isMarked(call)) count++
  }
  return count > MAX_MARKS ? ['cache_control'] : []
}

const isMarked = (part: object): boolean => (part as { readonly cache_control?: unknown }).cache_control != null
