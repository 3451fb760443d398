import { isRecord, type ToolCall } from 'unified-model-gateway/plugin'
import type { Block, Message, ReasoningBlock, ReplyReasoning } from './wire.ts'

/**
 * Reasoning that led to a tool call must come back, exactly as it was, with the call's result ("Extended thinking with tool use",
 * Amazon Bedrock user guide). OpenAI has no place for it, so it rides on the call, as Gemini's signatures do:
 * `tool_calls[].extra_content.bedrock = { model, reasoning: [blocks that stood before the call] }`.
 */
export interface ThoughtFreight {
  readonly extra_content: { readonly bedrock: { readonly model: string; readonly reasoning: readonly ReasoningBlock[] } }
}

/** The freight of a tool call in a reply of `model`; nothing where it did not reason. */
export function toFreight(model: string, reasoning: readonly ReasoningBlock[]): ThoughtFreight | undefined {
  return reasoning.length > 0 ? { extra_content: { bedrock: { model, reasoning } } } : undefined
}

/** The reasoning a client brings back. None where another model made it, for a model answers 400 to another's signature. */
export function fromFreight(call: ToolCall, model: string): ReasoningBlock[] {
  const { extra_content: extra } = call
  const freight = isRecord(extra) && isRecord(extra.bedrock) ? extra.bedrock : {}
  if (typeof freight.model !== 'string' || anywhere(freight.model) !== anywhere(model)) return []
  if (!Array.isArray(freight.reasoning)) return []
  return freight.reasoning.flatMap((block: unknown) => {
    return isRecord(block) && isRecord(block.reasoningContent) ? toReasoning(block.reasoningContent) : []
  })
}

/** Reasoning as a block that can come back: it has a seal, or is one. None where it has not: some models do not take theirs back. */
export function toReasoning({ reasoningText, redactedContent }: ReplyReasoning): ReasoningBlock[] {
  if (typeof redactedContent === 'string') return [{ reasoningContent: { redactedContent } }]
  const { text, signature } = reasoningText ?? {}
  if (typeof text !== 'string' || typeof signature !== 'string' || signature === '') return []
  return [{ reasoningContent: { reasoningText: { text, signature } } }]
}

/** `anthropic.claude-…` for `us.anthropic.claude-…` and for `arn:…/us.anthropic.claude-…`: one model, reached by several ways. */
function anywhere(model: string): string {
  return model.replace(/^.*\//, '').replace(/^[a-z-]+\.(?=[a-z\d-]+\.)/, '')
}

/** The messages without their reasoning: a call that does not reason must not bring any. */
export function withoutThoughts(messages: readonly Message[]): readonly Message[] {
  return messages.map((message) => ({ ...message, content: message.content.filter((block) => !isReasoning(block)) }))
}

/** False where the conversation stands in the middle of a tool step that did not begin with reasoning. */
export function canGoOnReasoning(messages: readonly Message[]): boolean {
  const [first] = messages.at(-1)?.content ?? []
  return first === undefined || !('toolResult' in first) || isReasoning(messages.at(-2)?.content[0])
}

function isReasoning(block: Block | undefined): boolean {
  return block !== undefined && 'reasoningContent' in block
}
