import { isRecord, type ToolCall, type TranslatedCompletion } from 'unified-model-gateway/plugin'
import { toFinishReason } from './finish.ts'
import { toUpstreamError } from './refusal.ts'
import { toFreight, toThinkingBlock } from './thinking.ts'
import { toUsage } from './usage.ts'
import type { MessageReply, ReplyBlock, ThinkingBlock, WireError } from './wire.ts'

/** A whole message as a completion. Throws `UpstreamError` for an error in a message's place, `Error` for anything else. */
export function toCompletion(body: unknown): TranslatedCompletion {
  const reply: MessageReply & { error?: WireError } = isRecord(body) ? body : {}
  if (reply.type === 'error') throw toUpstreamError(reply.error)
  if (reply.type !== 'message' || !Array.isArray(reply.content))
    throw new Error('The reply is not a message of the Messages API.')
  const blocks: readonly ReplyBlock[] = reply.content.filter(isRecord)
  const calls = toToolCalls(blocks, String(reply.model))
  const text = textOf(blocks, 'text')
  const thinking = textOf(blocks, 'thinking')
  return {
    ...(typeof reply.id === 'string' && { id: reply.id }),
    choices: [
      {
        message: {
          content: text === '' && calls.length > 0 ? null : text,
          ...(thinking && { reasoning_content: thinking }),
          ...(calls.length > 0 && { tool_calls: calls }),
        },
        finish_reason: toFinishReason(reply.stop_reason),
      },
    ],
    usage: toUsage(reply.usage ?? {}),
  }
}

/** All text of one kind of block, with nothing put between. */
function textOf(blocks: readonly ReplyBlock[], kind: 'text' | 'thinking'): string {
  return blocks.map((block) => (block.type === kind && typeof block[kind] === 'string' ? block[kind] : '')).join('')
}

function toToolCalls(blocks: readonly ReplyBlock[], model: string): ToolCall[] {
  const calls: ToolCall[] = []
  let thinking: ThinkingBlock[] = []
  for (const block of blocks) {
    thinking.push(...toThinkingBlock(block))
    if (block.type !== 'tool_use') continue
    const called = { name: String(block.name), arguments: JSON.stringify(block.input ?? {}) }
    calls.push({ id: String(block.id), type: 'function', function: called, ...toFreight(model, thinking) })
    thinking = []
  }
  return calls
}
