import { isRecord, type ToolCall } from 'unified-model-gateway/plugin'
import type { Members, ReasoningItem } from './wire.ts'

/**
 * The reasoning that led to a tool call. OpenAI's models work better if they get it back with the call's result ("Reasoning models", platform.openai.com).
 * Chat completions have no field for it, so the client keeps it with the call, in
 * `tool_calls[].extra_content.openai = { model, reasoning: [items before the call] }`.
 */
export interface ReasoningState {
  readonly extra_content: { readonly openai: { readonly model: string; readonly reasoning: readonly ReasoningItem[] } }
}

/** The state of a tool call in a reply of `model`; undefined without reasoning. */
export const toReasoningState = (model: string, reasoning: readonly ReasoningItem[]): ReasoningState | undefined =>
  reasoning.length > 0 ? { extra_content: { openai: { model, reasoning } } } : undefined

/** The reasoning in a client's tool call. Empty if another model made it: OpenAI does not take it, or leaves it out. */
export function readReasoning({ extra_content: extra }: ToolCall, model: string): ReasoningItem[] {
  const { model: maker, reasoning } = isRecord(extra) && isRecord(extra.openai) ? extra.openai : {}
  return maker === model && Array.isArray(reasoning) ? reasoning.filter(isRecord).flatMap(toReasoningItem) : []
}

/** An item of a reply as the vendor takes it back; empty if it says nothing. `summary` is required, even if empty. */
export function toReasoningItem({ summary, content, encrypted_content: encrypted }: Members): ReasoningItem[] {
  const hasContent = Array.isArray(content) && content.length > 0
  if (typeof encrypted !== 'string' && !hasContent) return []
  return [
    {
      type: 'reasoning',
      summary: Array.isArray(summary) ? summary : [],
      ...(hasContent && { content }),
      ...(typeof encrypted === 'string' && { encrypted_content: encrypted }),
    },
  ]
}
