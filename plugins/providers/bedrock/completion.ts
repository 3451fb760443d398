import { isRecord, type ToolCall, type TranslatedCompletion } from 'unified-model-gateway/plugin'
import { toFinishReason } from './finish.ts'
import { toFreight, toReasoning } from './thought.ts'
import { toUsage } from './usage.ts'
import type { ConverseReply, ReasoningBlock, ReplyBlock } from './wire.ts'

/** A whole reply of `model` as a completion. Throws an Error for what is none, `UpstreamError` where the model wrote nonsense. */
export function toCompletion(body: unknown, model: string): TranslatedCompletion {
  const reply: ConverseReply = isRecord(body) ? body : {}
  const content = reply.output?.message?.content
  if (!Array.isArray(content)) throw new Error('The reply is not one of Converse.')
  const blocks: readonly ReplyBlock[] = content.filter(isRecord)
  const calls = toToolCalls(blocks, model)
  const text = blocks.map(wordsOf).join('')
  const reasoning = blocks.map(({ reasoningContent }) => textOf(reasoningContent?.reasoningText?.text)).join('')
  return {
    choices: [
      {
        message: {
          content: text === '' && calls.length > 0 ? null : text,
          ...(reasoning && { reasoning_content: reasoning }),
          ...(calls.length > 0 && { tool_calls: calls }),
        },
        finish_reason: toFinishReason(reply.stopReason, calls.length > 0),
      },
    ],
    usage: toUsage(reply.usage),
  }
}

/** The words of a block, with nothing put between: text, or text that has its sources beside it. */
function wordsOf({ text, citationsContent }: ReplyBlock): string {
  const cited = citationsContent?.content
  return Array.isArray(cited) ? cited.map((piece: unknown) => textOf(isRecord(piece) && piece.text)).join('') : textOf(text)
}

function toToolCalls(blocks: readonly ReplyBlock[], model: string): ToolCall[] {
  const calls: ToolCall[] = []
  let reasoning: ReasoningBlock[] = []
  for (const { reasoningContent, toolUse } of blocks) {
    if (isRecord(reasoningContent)) reasoning.push(...toReasoning(reasoningContent))
    // What Bedrock runs itself is no call of the client's.
    if (!isRecord(toolUse) || toolUse.type === 'server_tool_use') continue
    const called = { name: String(toolUse.name), arguments: JSON.stringify(toolUse.input ?? {}) }
    calls.push({ id: String(toolUse.toolUseId), type: 'function', function: called, ...toFreight(model, reasoning) })
    reasoning = []
  }
  return calls
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
