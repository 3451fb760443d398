import { isRecord, type ToolCall } from 'unified-model-gateway/plugin'
import type { AssistantMessage } from './wire.ts'

/** What led to the calls of tools of one message: a plan, or the thoughts of a reasoning model. */
export interface Thought {
  readonly plan: string
  readonly thinking: string
}

/**
 * Cohere wants it back with the tools' results ("Usage patterns for tool use", docs.cohere.com). OpenAI has no place for it, so it
 * rides on the first call, as Gemini's signatures do: `tool_calls[].extra_content.cohere = { tool_plan, thinking }`.
 */
export interface ThoughtFreight {
  readonly extra_content: { readonly cohere: { readonly tool_plan?: string; readonly thinking?: string } }
}

/** The freight of a message's first call; nothing where it was not thought about. */
export function toFreight({ plan, thinking }: Thought): ThoughtFreight | undefined {
  if (plan === '' && thinking === '') return undefined
  return { extra_content: { cohere: { ...(plan && { tool_plan: plan }), ...(thinking && { thinking }) } } }
}

/**
 * What stands in a message before its calls. `text`: what the model said beside them, which in a message of calls is their plan.
 */
export function fromFreight(calls: readonly ToolCall[], text: string): Pick<AssistantMessage, 'content' | 'tool_plan'> {
  const freights = calls.map(({ extra_content: extra }) => (isRecord(extra) && isRecord(extra.cohere) ? extra.cohere : {}))
  const told = (name: string) => freights.flatMap((freight) => (typeof freight[name] === 'string' ? [freight[name]] : []))
  const plan = [...told('tool_plan'), text].filter((words) => words.trim() !== '').join('\n')
  const thinking = told('thinking').filter((words) => words !== '')
  return {
    ...(thinking.length > 0 && { content: thinking.map((words) => ({ type: 'thinking' as const, thinking: words })) }),
    ...(plan && { tool_plan: plan }),
  }
}
