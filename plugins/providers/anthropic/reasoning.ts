import { type AskedThinking, invalidValue, isRecord, type ToolCall, textOf } from 'unified-model-gateway/plugin'
import type { ModelFacts } from './models.ts'
import type { Effort, Message, ReplyBlock, ThinkingBlock, ThinkingConfig } from './wire.ts'

/** The thinking settings of a request. */
export interface Reasoning {
  readonly thinking?: ThinkingConfig
  readonly effort?: Effort
  /** Whether the model may think: then it takes no sampling parameters, and gets back its thinking of earlier steps. */
  readonly on: boolean
  /** True if the model does not think as the client has asked. */
  readonly dropped?: boolean
}

/** The parts of a request that thinking depends on. */
export interface ReasoningContext {
  readonly maxTokens: number
  /** `tool_choice` requires a tool. */
  readonly forced: boolean
  readonly messages: readonly Message[]
}

/** An OpenAI effort in Anthropic's terms. */
export interface EffortLevel {
  readonly effort: Effort
  /** For models with a budget: the share of the reply's tokens to think with (OpenRouter's shares). */
  readonly share: number
}

/** The levels by OpenAI's names. */
export const EFFORTS: ReadonlyMap<string, EffortLevel> = new Map<string, EffortLevel>([
  ['minimal', { effort: 'low', share: 0.1 }],
  ['low', { effort: 'low', share: 0.2 }],
  ['medium', { effort: 'medium', share: 0.5 }],
  ['high', { effort: 'high', share: 0.8 }],
  ['xhigh', { effort: 'xhigh', share: 0.95 }],
  ['max', { effort: 'max', share: 0.95 }],
])

/** What the client asks for, as the model takes it. Throws `GatewayError` (400) for an unknown effort. */
export function toReasoning(asked: AskedThinking | undefined, facts: ModelFacts, context: ReasoningContext): Reasoning {
  if (asked === undefined) return { on: facts.thinking === 'adaptive' && facts.alwaysThinks }
  const { effort, budget: tokens } = asked
  if (effort === 'none') return thinkingOff(facts)
  const level = EFFORTS.get(effort)
  if (!level) throw invalidValue(asked.param, `expected one of none, ${[...EFFORTS.keys()].join(', ')}`)
  const mayThink = !context.forced && canContinueThinking(context.messages)
  const takesTokens = facts.thinking === 'budget' || (tokens !== undefined && facts.budgets)
  const budget = mayThink && takesTokens ? thinkingBudget(context.maxTokens, tokens ?? level.share) : undefined
  const dropped = tokens !== undefined && budget !== tokens
  if (budget !== undefined) return { thinking: { type: 'enabled', budget_tokens: budget }, on: true, dropped }
  if (facts.thinking !== 'adaptive') return { on: false, dropped: true }
  return {
    thinking: { type: 'adaptive', display: 'summarized' },
    effort: nearestEffort(level.effort, facts.xhigh),
    on: true,
    dropped,
  }
}

/** The effort, or `high` for an `xhigh` that the model does not know: never more than requested. */
export function nearestEffort(effort: Effort, xhigh: boolean): Effort {
  return effort === 'xhigh' && !xhigh ? 'high' : effort
}

/** The smallest budget that Anthropic takes. */
const MIN_BUDGET = 1024

/**
 * Tokens to think with, less than `maxTokens`; undefined if `maxTokens` leaves no room for the smallest budget. `asked`: a number of tokens, or
 * below 1 a share of `maxTokens`.
 */
export function thinkingBudget(maxTokens: number, asked: number): number | undefined {
  const tokens = asked < 1 ? Math.floor(maxTokens * asked) : asked
  return maxTokens <= MIN_BUDGET ? undefined : Math.min(Math.max(MIN_BUDGET, tokens), maxTokens - 1)
}

/** For a model that cannot stop thinking, the lowest effort. */
function thinkingOff({ thinking, thinkingOff: type }: ModelFacts): Reasoning {
  if (thinking !== 'adaptive') return { on: false }
  if (type === 'never') return { effort: 'low', on: true }
  return { thinking: { type }, on: type === 'between_tools' }
}

/** Whether thinking may be on: not within a tool step that began without thinking, for which Anthropic answers 400. */
function canContinueThinking(messages: readonly Message[]): boolean {
  const isToolStep = messages.at(-1)?.content[0]?.type === 'tool_result'
  return !isToolStep || isThinking(messages.at(-2)?.content[0]?.type)
}

/** The messages without their thinking, for a request without thinking: Anthropic answers 400 to both together. */
export function withoutThinking(messages: readonly Message[]): readonly Message[] {
  return messages.map((message) => ({ ...message, content: message.content.filter(({ type }) => !isThinking(type)) }))
}

function isThinking(type: string | undefined): boolean {
  return type === 'thinking' || type === 'redacted_thinking'
}

/**
 * The thinking that led to a tool call: Anthropic requires it back, unchanged, with the call's result ("Thinking in tool and multi-turn
 * workflows", platform.claude.com). OpenAI has no field for it, so the client keeps it with the call, in
 * `tool_calls[].extra_content.anthropic = { model, thinking: [blocks before the call], after: [characters of text before each block] }`.
 */
export interface ThinkingState {
  readonly extra_content: {
    readonly anthropic: {
      readonly model: string
      readonly thinking: readonly ThinkingBlock[]
      /** Absent: no text stands before any of them. */
      readonly after?: readonly number[]
    }
  }
}

/** The thinking state of a tool call in a reply of `model`; undefined without thinking. */
export function toThinkingState(model: string, thinking: readonly Placed<ThinkingBlock>[]): ThinkingState | undefined {
  if (thinking.length === 0) return undefined
  return { extra_content: { anthropic: { model, thinking: thinking.map(({ block }) => block), ...placesOf(thinking) } } }
}

/**
 * The thinking in a client's tool call. Empty if another model made it: a model answers 400 to another's signature. Clients of the Messages
 * API do not say which model made it; Anthropic itself gets it from them as it is.
 */
export function readThinkingState(call: ToolCall, model: string): Placed<ThinkingBlock>[] {
  const { extra_content: extra } = call
  const state = isRecord(extra) && isRecord(extra.anthropic) ? extra.anthropic : {}
  if (state.model !== undefined && undated(textOf(state.model)) !== undated(model)) return []
  const all: readonly ReplyBlock[] = Array.isArray(state.thinking) ? state.thinking : []
  return placed(all, state.after).flatMap(({ block, after }) => placed(toThinkingBlock(block), [after]))
}

/** A reply's block as a block of thinking; empty for any other block. */
export function toThinkingBlock(block: ReplyBlock): ThinkingBlock[] {
  if (block?.type === 'redacted_thinking' && typeof block.data === 'string') {
    return [{ type: 'redacted_thinking', data: block.data }]
  }
  if (block?.type !== 'thinking' || typeof block.thinking !== 'string' || typeof block.signature !== 'string') return []
  return [{ type: 'thinking', thinking: block.thinking, signature: block.signature }]
}

/** `claude-sonnet-4-5` for `claude-sonnet-4-5-20250929`: replies to a request for the alias name the dated model. */
function undated(model: string): string {
  return model.replace(/-(\d{8}|latest|0)$/, '')
}

/** A block of thinking and its place: the characters of the answer's text before it. Claude signs each block for its place. */
export interface Placed<Block> {
  readonly block: Block
  readonly after: number
}

/** The places as a state keeps them; absent if all blocks stand before the text. */
export const placesOf = (thinking: readonly Placed<unknown>[]): { readonly after?: readonly number[] } =>
  thinking.some(({ after }) => after > 0) ? { after: thinking.map(({ after }) => after) } : {}

/** Blocks with the places that a state has for them. */
export function placed<Block>(blocks: readonly Block[], after: unknown): Placed<Block>[] {
  const places: readonly unknown[] = Array.isArray(after) ? after : []
  return blocks.map((block, index) => {
    const place = places[index]
    return { block, after: typeof place === 'number' && place > 0 ? place : 0 }
  })
}

/** How a wire's blocks hold text. */
export interface TextBlocks<Block> {
  /** The text of a block; undefined for one of another kind. */
  read(block: Block): string | undefined
  /** The block with another text; none for a blank one. */
  write(block: Block, text: string): readonly Block[]
}

/** The blocks of an answer with its thinking at its places. Places beyond the text are its end: a client may have cut it. */
export function withThinking<Block>(
  blocks: readonly Block[],
  thinking: readonly Placed<Block>[],
  texts: TextBlocks<Block>,
): Block[] {
  const all: Block[] = []
  const waiting = [...thinking]
  let passed = 0
  const think = (): void => {
    while (waiting.length > 0 && waiting[0]!.after <= passed) all.push(waiting.shift()!.block)
  }
  for (const block of blocks) {
    const text = texts.read(block) ?? ''
    const [begin, end] = [passed, passed + text.length]
    let from = begin
    think()
    while (waiting.length > 0 && waiting[0]!.after < end) {
      passed = waiting[0]!.after
      all.push(...texts.write(block, text.slice(from - begin, passed - begin)))
      from = passed
      think()
    }
    all.push(...(from === begin ? [block] : texts.write(block, text.slice(from - begin))))
    passed = end
  }
  return [...all, ...waiting.map(({ block }) => block)]
}
