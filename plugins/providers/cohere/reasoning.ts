import { type AskedThinking, invalidValue, isRecord, type ToolCall } from 'unified-model-gateway/plugin'
import type { ModelFacts } from './models.ts'
import type { AssistantMessage, ChatBody } from './wire.ts'

/** The thinking settings of a request. */
export interface Reasoning {
  readonly thinking?: ChatBody['thinking']
  /** True if the model does not think as the client has asked. */
  readonly dropped?: true
}

/** Per OpenAI effort: the share of a reply's tokens to think with (OpenRouter's shares); undefined: unlimited, as Cohere recommends. */
const SHARES: ReadonlyMap<string, number | undefined> = new Map([
  ['minimal', 0.1],
  ['low', 0.2],
  ['medium', 0.5],
  ['high', 0.8],
  ['xhigh', undefined],
  ['max', undefined],
])

/** What the client asks for, as the model takes it. Throws `GatewayError` (400) for an unknown effort. */
export function toReasoning(asked: AskedThinking | undefined, maxTokens: number, facts: ModelFacts): Reasoning {
  if (asked === undefined) return {}
  const { effort, budget } = asked
  if (budget !== undefined) return facts.thinking ? { thinking: { type: 'enabled', token_budget: budget } } : { dropped: true }
  if (effort === 'none') return facts.thinking ? { thinking: { type: 'disabled' } } : {}
  if (!SHARES.has(effort)) throw invalidValue(asked.param, `expected one of none, ${[...SHARES.keys()].join(', ')}`)
  if (!facts.thinking) return { dropped: true }
  const share = SHARES.get(effort)
  if (share === undefined) return { thinking: { type: 'enabled' } }
  return { thinking: { type: 'enabled', token_budget: Math.max(1, Math.floor(maxTokens * share)) } }
}

/**
 * The plan or the thinking that led to the tool calls of a message: Cohere requires it back with the tools' results ("Usage patterns for
 * tool use", docs.cohere.com). OpenAI has no field for it, so the client keeps it with the first call, in
 * `tool_calls[].extra_content.cohere = { tool_plan, thinking }`.
 */
export interface ThinkingState {
  readonly extra_content: { readonly cohere: { readonly tool_plan?: string; readonly thinking?: string } }
}

/** The thinking state of a message's first tool call; undefined without a plan and thinking. */
export function toThinkingState(plan: string, thinking: string): ThinkingState | undefined {
  if (plan === '' && thinking === '') return undefined
  return { extra_content: { cohere: { ...(plan && { tool_plan: plan }), ...(thinking && { thinking }) } } }
}

/** The thinking in a client's tool calls. `text`: the message's text, which in a message of calls belongs to their plan. */
export function readThinkingState(calls: readonly ToolCall[], text: string): Pick<AssistantMessage, 'content' | 'tool_plan'> {
  const states = calls.map(({ extra_content: extra }) => (isRecord(extra) && isRecord(extra.cohere) ? extra.cohere : {}))
  const textsOf = (name: string) => states.flatMap((state) => (typeof state[name] === 'string' ? [state[name]] : []))
  const plan = [...textsOf('tool_plan'), text].filter((part) => part.trim() !== '').join('\n')
  const thinking = textsOf('thinking').filter((part) => part !== '')
  return {
    ...(thinking.length > 0 && { content: thinking.map((part) => ({ type: 'thinking' as const, thinking: part })) }),
    ...(plan && { tool_plan: plan }),
  }
}
