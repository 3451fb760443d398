import { invalidValue } from 'unified-model-gateway/plugin'
import type { ModelFacts } from './models.ts'
import type { Effort, ThinkingConfig } from './wire.ts'

/** How a call is to think. */
export interface Reasoning {
  readonly thinking?: ThinkingConfig
  readonly effort?: Effort
  /** Whether the model may think: then it takes no sampling parameters, and the thinking of earlier steps goes back to it. */
  readonly on: boolean
  /** The client's effort could not be honoured. */
  readonly dropped?: boolean
}

/** What else bears on thinking. */
export interface Circumstances {
  readonly maxTokens: number
  /** `tool_choice` forces a tool. */
  readonly forced: boolean
  /** The conversation does not stand in a tool step that began without thinking. */
  readonly canGoOn: boolean
}

/** Per OpenAI effort: Anthropic's, and for older models the share of `max_tokens` to think with (OpenRouter's shares). */
const LEVELS: ReadonlyMap<string, { effort: Effort; share: number }> = new Map([
  ['minimal', { effort: 'low', share: 0.1 }],
  ['low', { effort: 'low', share: 0.2 }],
  ['medium', { effort: 'medium', share: 0.5 }],
  ['high', { effort: 'high', share: 0.8 }],
  ['xhigh', { effort: 'xhigh', share: 0.95 }],
  ['max', { effort: 'max', share: 0.95 }],
])
const SMALLEST_BUDGET = 1024

/** `reasoning_effort` as this model takes it. Throws `GatewayError` for an effort nobody knows. */
export function toReasoning(effort: string | undefined, facts: ModelFacts, circumstances: Circumstances): Reasoning {
  if (effort === undefined) return { on: facts.thinking === 'adaptive' && facts.alwaysThinks }
  if (effort === 'none') return withoutThinking(facts)
  const level = LEVELS.get(effort)
  if (!level) throw invalidValue('reasoning_effort', `expected one of none, ${[...LEVELS.keys()].join(', ')}`)
  if (facts.thinking === 'adaptive') {
    // Never more than was asked for: `high` is the next below an `xhigh` the model does not know.
    const known = level.effort === 'xhigh' && !facts.xhigh ? 'high' : level.effort
    return { thinking: { type: 'adaptive', display: 'summarized' }, effort: known, on: true }
  }
  return facts.thinking === 'budget' ? withBudget(level.share, circumstances) : { on: false, dropped: true }
}

/** A model that cannot stop thinking thinks least at low effort. */
function withoutThinking({ thinking, thinkingOff }: ModelFacts): Reasoning {
  if (thinking !== 'adaptive') return { on: false }
  if (thinkingOff === 'never') return { effort: 'low', on: true }
  return { thinking: { type: thinkingOff }, on: thinkingOff === 'between_tools' }
}

/** Anthropic wants 1024 ≤ budget < max_tokens, no forced tool, and thinking at the start of the tool step under way. */
function withBudget(share: number, { maxTokens, forced, canGoOn }: Circumstances): Reasoning {
  if (maxTokens <= SMALLEST_BUDGET || forced || !canGoOn) return { on: false, dropped: true }
  const budget = Math.max(SMALLEST_BUDGET, Math.floor(maxTokens * share))
  return { thinking: { type: 'enabled', budget_tokens: budget }, on: true }
}
