import { isRecord, type ToolCall, type TranslatedCompletion } from 'unified-model-gateway/plugin'
import { toFinishReason } from './finish.ts'
import { textOf, toArguments } from './reply-text.ts'
import { toFreight } from './thought.ts'
import { toUsage } from './usage.ts'
import type { Reply, ReplyContent, ReplyMessage, ReplyToolCall } from './wire.ts'

/** A whole reply as a completion. Throws an Error for what is none, `UpstreamError` where it was not finished. */
export function toCompletion(body: unknown): TranslatedCompletion {
  const reply: Reply = isRecord(body) ? body : {}
  if (!isRecord(reply.message)) throw new Error('The reply is not one of the Chat API.')
  const { content, tool_calls, tool_plan }: ReplyMessage = reply.message
  const parts: readonly ReplyContent[] = Array.isArray(content) ? content.filter(isRecord) : []
  const text = parts.map((part) => textOf(part.text)).join('')
  const thought = { plan: textOf(tool_plan), thinking: parts.map((part) => textOf(part.thinking)).join('') }
  const calls = toToolCalls(tool_calls, toFreight(thought))
  return {
    ...(typeof reply.id === 'string' && { id: reply.id }),
    choices: [
      {
        message: {
          content: text === '' && calls.length > 0 ? null : text,
          ...(thought.thinking + thought.plan !== '' && { reasoning_content: thought.thinking + thought.plan }),
          ...(calls.length > 0 && { tool_calls: calls }),
        },
        finish_reason: toFinishReason(reply.finish_reason),
      },
    ],
    usage: toUsage(reply.usage),
  }
}

/** `freight`: what the first of them carries. */
function toToolCalls(calls: unknown, freight: ReturnType<typeof toFreight>): ToolCall[] {
  const all: readonly ReplyToolCall[] = Array.isArray(calls) ? calls.filter(isRecord) : []
  return all.map(({ id, function: called }, index) => ({
    id: String(id),
    type: 'function',
    function: { name: String(called?.name), arguments: toArguments(textOf(called?.arguments)) },
    ...(index === 0 && freight),
  }))
}
