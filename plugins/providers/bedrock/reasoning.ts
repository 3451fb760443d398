import { type AskedThinking, invalidValue, isRecord, type ToolCall } from 'unified-model-gateway/plugin'
import {
  EFFORTS,
  type EffortLevel,
  nearestEffort,
  type Placed,
  placed,
  placesOf,
  thinkingBudget,
} from '../anthropic/reasoning.ts'
import type { ModelFacts } from './models.ts'
import type { Block, Message, ReasoningBlock, ReplyReasoning } from './wire.ts'

/** The reasoning settings of a request. */
export interface Reasoning {
  /** For `additionalModelRequestFields`. */
  readonly fields?: Readonly<Record<string, unknown>>
  /** The model may reason as Claude does: it gets back its reasoning of earlier steps. */
  readonly on?: true
  /** The model takes no sampling parameters with it. */
  readonly fixesSampling?: true
  /** The most tokens of the reply, if the budget is a share of them. */
  readonly maxTokens?: number
  /** True if the model does not reason as the client has asked. */
  readonly dropped?: true
}

/** The parts of a request that reasoning depends on. */
export interface ReasoningContext {
  /** The most tokens of the reply, as requested. */
  readonly maxTokens: number | undefined
  /** `tool_choice` requires a tool. */
  readonly forced: boolean
  readonly messages: readonly Message[]
}

/** A level, and the number of tokens that the client gives in place of an effort. */
interface Asked extends EffortLevel {
  readonly tokens?: number | undefined
}

type ToReasoning = (asked: Asked, facts: ModelFacts, context: ReasoningContext) => Reasoning

const DROPPED: Reasoning = { dropped: true }
const CLAUDE_REASONS = { on: true, fixesSampling: true } as const

/** The settings per kind of model. */
const BY_KIND: Readonly<Record<ModelFacts['reasoning'], ToReasoning>> = {
  none: () => DROPPED,
  budget: withBudget,
  adaptive: adaptive,
  effort: withEffort,
  nova: forNova,
}

/** What the client asks for, as the model takes it. Throws `GatewayError` (400) for an unknown effort. */
export function toReasoning(asked: AskedThinking | undefined, facts: ModelFacts, context: ReasoningContext): Reasoning {
  if (asked === undefined) return facts.reasoning === 'adaptive' && facts.alwaysReasons ? CLAUDE_REASONS : {}
  const { effort, budget: tokens } = asked
  if (effort === 'none') return reasoningOff(facts)
  const level = EFFORTS.get(effort)
  if (!level) throw invalidValue(asked.param, `expected one of none, ${[...EFFORTS.keys()].join(', ')}`)
  if (tokens === undefined) return BY_KIND[facts.reasoning](level, facts, context)
  const takesTokens = facts.reasoning === 'budget' || facts.budgets
  const byTokens = takesTokens ? withBudget({ ...level, tokens }, facts, context) : DROPPED
  return byTokens.fields === undefined ? { ...BY_KIND[facts.reasoning](level, facts, context), ...DROPPED } : byTokens
}

/** For a model that cannot stop reasoning, the lowest effort. */
function reasoningOff({ reasoning, alwaysReasons, reasoningOff: type }: ModelFacts): Reasoning {
  if (!alwaysReasons || reasoning === 'none' || reasoning === 'budget' || reasoning === 'nova') return {}
  if (reasoning === 'effort') return { fields: { reasoning_effort: 'low' } }
  if (type === 'never') return { ...CLAUDE_REASONS, fields: { output_config: { effort: 'low' } } }
  return { ...(type === 'between_tools' && CLAUDE_REASONS), fields: { thinking: { type } } }
}

/** Claude takes a budget below `maxTokens`, without a required tool, and not within a tool step that began without reasoning. */
function withBudget(
  { share, tokens }: Asked,
  facts: ModelFacts,
  { maxTokens = facts.maxTokens, forced, messages }: ReasoningContext,
): Reasoning {
  const budget = thinkingBudget(maxTokens, tokens ?? share)
  if (budget === undefined || forced || !canContinueReasoning(messages)) return DROPPED
  const isOther = tokens !== undefined && budget !== tokens
  const fields = { thinking: { type: 'enabled', budget_tokens: budget } }
  return { ...CLAUDE_REASONS, maxTokens, fields, ...(isOther && DROPPED) }
}

function adaptive({ effort }: EffortLevel, { xhigh }: ModelFacts): Reasoning {
  const thinking = { type: 'adaptive', display: 'summarized' }
  return { ...CLAUDE_REASONS, fields: { thinking, output_config: { effort: nearestEffort(effort, xhigh) } } }
}

function withEffort(level: EffortLevel): Reasoning {
  return { fields: { reasoning_effort: effortOfThree(level) } }
}

/** At `high` Nova takes neither a limit nor sampling parameters: a client's limit lowers the effort. */
function forNova(level: EffortLevel, _: ModelFacts, { maxTokens }: ReasoningContext): Reasoning {
  const nearest = effortOfThree(level)
  const effort = nearest === 'high' && maxTokens !== undefined ? 'medium' : nearest
  return {
    fields: { reasoningConfig: { type: 'enabled', maxReasoningEffort: effort } },
    ...(effort === 'high' && { fixesSampling: true }),
  }
}

/** For models with three efforts. */
function effortOfThree({ effort }: EffortLevel): 'low' | 'medium' | 'high' {
  return effort === 'low' || effort === 'medium' ? effort : 'high'
}

/** Whether reasoning may be on: not within a tool step that began without reasoning. */
function canContinueReasoning(messages: readonly Message[]): boolean {
  const [first] = messages.at(-1)?.content ?? []
  return first === undefined || !('toolResult' in first) || isReasoning(messages.at(-2)?.content[0])
}

/** The messages without their reasoning, for a request without reasoning: Bedrock does not take both together. */
export function withoutReasoning(messages: readonly Message[]): readonly Message[] {
  return messages.map((message) => ({ ...message, content: message.content.filter((block) => !isReasoning(block)) }))
}

function isReasoning(block: Block | undefined): boolean {
  return block !== undefined && 'reasoningContent' in block
}

/**
 * The reasoning that led to a tool call: Bedrock requires it back, unchanged, with the call's result ("Extended thinking with tool use",
 * Amazon Bedrock user guide). OpenAI has no field for it, so the client keeps it with the call, in
 * `tool_calls[].extra_content.bedrock = { model, reasoning: [blocks before the call], after: [characters of text before each block] }`.
 */
export interface ThinkingState {
  readonly extra_content: {
    readonly bedrock: {
      readonly model: string
      readonly reasoning: readonly ReasoningBlock[]
      /** Absent: no text stands before any of them. */
      readonly after?: readonly number[]
    }
  }
}

/** The thinking state of a tool call in a reply of `model`; undefined without reasoning. */
export function toThinkingState(model: string, reasoning: readonly Placed<ReasoningBlock>[]): ThinkingState | undefined {
  if (reasoning.length === 0) return undefined
  return { extra_content: { bedrock: { model, reasoning: reasoning.map(({ block }) => block), ...placesOf(reasoning) } } }
}

/** The reasoning in a client's tool call. Empty if another model made it: a model answers 400 to another's signature. */
export function readThinkingState(call: ToolCall, model: string): Placed<ReasoningBlock>[] {
  const { extra_content: extra } = call
  const state = isRecord(extra) && isRecord(extra.bedrock) ? extra.bedrock : {}
  if (typeof state.model !== 'string' || withoutRegion(state.model) !== withoutRegion(model)) return []
  const all: readonly unknown[] = Array.isArray(state.reasoning) ? state.reasoning : []
  return placed(all, state.after).flatMap(({ block, after }) =>
    isRecord(block) && isRecord(block.reasoningContent) ? placed(toReasoningBlock(block.reasoningContent), [after]) : [],
  )
}

/** A block of signed or redacted reasoning; empty for unsigned reasoning, which models do not take back. */
export function toReasoningBlock({ reasoningText, redactedContent }: ReplyReasoning): ReasoningBlock[] {
  if (typeof redactedContent === 'string') return [{ reasoningContent: { redactedContent } }]
  const { text, signature } = reasoningText ?? {}
  if (typeof text !== 'string' || typeof signature !== 'string' || signature === '') return []
  return [{ reasoningContent: { reasoningText: { text, signature } } }]
}

/** `anthropic.claude-…` for `us.anthropic.claude-…` and for `arn:…/us.anthropic.claude-…`: ids of one model. */
function withoutRegion(model: string): string {
  return model.replace(/^.*\//, '').replace(/^[a-z-]+\.(?=[a-z\d-]+\.)/, '')
}
