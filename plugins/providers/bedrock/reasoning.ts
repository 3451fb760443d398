import { invalidValue } from 'unified-model-gateway/plugin'
import type { ModelFacts } from './models.ts'
import { canGoOnReasoning } from './thought.ts'
import type { Message } from './wire.ts'

/** How a call is to reason. */
export interface Reasoning {
  /** For `additionalModelRequestFields`. */
  readonly fields?: Readonly<Record<string, unknown>>
  /** The model may reason as Claude does: the reasoning of earlier steps goes back to it. */
  readonly on?: true
  /** The model takes no sampling parameters with it. */
  readonly fixesSampling?: true
  /** The tokens of the reply, where the budget is a share of them. */
  readonly maxTokens?: number
  /** The client's effort could not be honoured. */
  readonly dropped?: true
}

/** What else bears on reasoning. */
export interface Circumstances {
  /** Tokens the client allows the reply. */
  readonly maxTokens: number | undefined
  /** `tool_choice` forces a tool. */
  readonly forced: boolean
  readonly messages: readonly Message[]
}

/** What an OpenAI effort is elsewhere. */
interface Level {
  readonly claude: string
  /** Of models that know three. */
  readonly ofThree: 'low' | 'medium' | 'high'
  /** Of the reply's tokens (OpenRouter's shares). */
  readonly share: number
}

const LEVELS: ReadonlyMap<string, Level> = new Map<string, Level>([
  ['minimal', { claude: 'low', ofThree: 'low', share: 0.1 }],
  ['low', { claude: 'low', ofThree: 'low', share: 0.2 }],
  ['medium', { claude: 'medium', ofThree: 'medium', share: 0.5 }],
  ['high', { claude: 'high', ofThree: 'high', share: 0.8 }],
  ['xhigh', { claude: 'xhigh', ofThree: 'high', share: 0.95 }],
  ['max', { claude: 'max', ofThree: 'high', share: 0.95 }],
])
const SMALLEST_BUDGET = 1024

const DROPPED: Reasoning = { dropped: true }
const CLAUDE_REASONS = { on: true, fixesSampling: true } as const

/** Per kind of model: how it is told to reason this much. */
const TOLD: Readonly<
  Record<ModelFacts['reasoning'], (level: Level, facts: ModelFacts, circumstances: Circumstances) => Reasoning>
> = { none: () => DROPPED, budget: withBudget, adaptive: adaptively, effort: withEffort, nova: asNova }

/** `reasoning_effort` as this model takes it. Throws `GatewayError` for an effort nobody knows. */
export function toReasoning(effort: string | undefined, facts: ModelFacts, circumstances: Circumstances): Reasoning {
  if (effort === undefined) return facts.reasoning === 'adaptive' && facts.alwaysReasons ? CLAUDE_REASONS : {}
  if (effort === 'none') return withoutReasoning(facts)
  const level = LEVELS.get(effort)
  if (!level) throw invalidValue('reasoning_effort', `expected one of none, ${[...LEVELS.keys()].join(', ')}`)
  return TOLD[facts.reasoning](level, facts, circumstances)
}

/** A model that cannot stop reasoning reasons least at low effort. */
function withoutReasoning({ reasoning, alwaysReasons, reasoningOff }: ModelFacts): Reasoning {
  if (!alwaysReasons || reasoning === 'none' || reasoning === 'budget' || reasoning === 'nova') return {}
  if (reasoning === 'effort') return { fields: { reasoning_effort: 'low' } }
  if (reasoningOff === 'never') return { ...CLAUDE_REASONS, fields: { output_config: { effort: 'low' } } }
  return { ...(reasoningOff === 'between_tools' && CLAUDE_REASONS), fields: { thinking: { type: reasoningOff } } }
}

/** Claude wants 1024 ≤ budget < maxTokens, no forced tool, and reasoning at the start of the tool step under way. */
function withBudget(
  { share }: Level,
  facts: ModelFacts,
  { maxTokens = facts.maxTokens, forced, messages }: Circumstances,
): Reasoning {
  if (maxTokens <= SMALLEST_BUDGET || forced || !canGoOnReasoning(messages)) return DROPPED
  const budget = Math.max(SMALLEST_BUDGET, Math.floor(maxTokens * share))
  return { ...CLAUDE_REASONS, maxTokens, fields: { thinking: { type: 'enabled', budget_tokens: budget } } }
}

/** Never more than was asked for: `high` is the next below an `xhigh` the model does not know. */
function adaptively({ claude }: Level, { xhigh }: ModelFacts): Reasoning {
  const effort = claude === 'xhigh' && !xhigh ? 'high' : claude
  return { ...CLAUDE_REASONS, fields: { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort } } }
}

function withEffort({ ofThree }: Level): Reasoning {
  return { fields: { reasoning_effort: ofThree } }
}

/** At `high` Nova takes neither a limit nor sampling parameters: the client's limit has the last word. */
function asNova({ ofThree }: Level, _: ModelFacts, { maxTokens }: Circumstances): Reasoning {
  const effort = ofThree === 'high' && maxTokens !== undefined ? 'medium' : ofThree
  return {
    fields: { reasoningConfig: { type: 'enabled', maxReasoningEffort: effort } },
    ...(effort === 'high' && { fixesSampling: true }),
  }
}
