import { isRecord, type ToolCall } from 'unified-model-gateway/plugin'
import type { Message, ReplyBlock, ThinkingBlock } from './wire.ts'

/**
 * Thinking that led to a tool call must come back, exactly as it was, with the call's result ("Thinking in tool and multi-turn
 * workflows", platform.claude.com). OpenAI has no place for it, so it rides on the call, as Gemini's signatures do:
 * `tool_calls[].extra_content.anthropic = { model, thinking: [blocks that stood before the call] }`.
 */
export interface ThinkingFreight {
  readonly extra_content: { readonly anthropic: { readonly model: string; readonly thinking: readonly ThinkingBlock[] } }
}

/** The freight of a tool call of `model`'s reply; nothing where it did not think. */
export function toFreight(model: string, thinking: readonly ThinkingBlock[]): ThinkingFreight | undefined {
  return thinking.length > 0 ? { extra_content: { anthropic: { model, thinking } } } : undefined
}

/** The thinking a client brings back. None where another model made it, for a model answers 400 to another's signature. */
export function fromFreight(call: ToolCall, model: string): ThinkingBlock[] {
  const { extra_content: extra } = call
  const freight = isRecord(extra) && isRecord(extra.anthropic) ? extra.anthropic : {}
  if (typeof freight.model !== 'string' || undated(freight.model) !== undated(model)) return []
  return Array.isArray(freight.thinking) ? freight.thinking.flatMap(toThinkingBlock) : []
}

/** A block of thinking, or none where it is something else. */
export function toThinkingBlock(block: ReplyBlock): ThinkingBlock[] {
  if (block?.type === 'redacted_thinking' && typeof block.data === 'string') {
    return [{ type: 'redacted_thinking', data: block.data }]
  }
  if (block?.type !== 'thinking' || typeof block.thinking !== 'string' || typeof block.signature !== 'string') return []
  return [{ type: 'thinking', thinking: block.thinking, signature: block.signature }]
}

/** The messages without their thinking: a call that does not think must not bring any. */
export function withoutThinking(messages: readonly Message[]): readonly Message[] {
  return messages.map((message) => ({ ...message, content: message.content.filter(({ type }) => !isThinking(type)) }))
}

/** False where the conversation stands in the middle of a tool step that did not begin with thinking. */
export function canGoOnThinking(messages: readonly Message[]): boolean {
  const answersTools = messages.at(-1)?.content[0]?.type === 'tool_result'
  return !answersTools || isThinking(messages.at(-2)?.content[0]?.type)
}

function isThinking(type: string | undefined): boolean {
  return type === 'thinking' || type === 'redacted_thinking'
}

/** `claude-sonnet-4-5` for `claude-sonnet-4-5-20250929`: the reply names the dated model where the request named the alias. */
function undated(model: string): string {
  return model.replace(/-(\d{8}|latest|0)$/, '')
}
