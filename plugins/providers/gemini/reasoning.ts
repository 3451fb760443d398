import { type AskedThinking, invalidValue, isRecord, type ToolCall } from 'unified-model-gateway/plugin'
import type { ModelFacts } from './models.ts'
import type { ThinkingConfig } from './wire.ts'

/** The thinking settings of a request. */
export interface Reasoning {
  readonly thinkingConfig?: ThinkingConfig
  /** True if the model does not think as the client has asked. */
  readonly dropped?: boolean
}

/** A thinking level. */
export type Level = ModelFacts['levels'][number]

/** Per OpenAI effort: Gemini's level, and for models with a budget its tokens ("OpenAI compatibility", ai.google.dev). */
const EFFORTS: ReadonlyMap<string, { readonly level: Level; readonly budget: number }> = new Map([
  ['none', { level: 'MINIMAL', budget: 0 }],
  ['minimal', { level: 'MINIMAL', budget: 1024 }],
  ['low', { level: 'LOW', budget: 1024 }],
  ['medium', { level: 'MEDIUM', budget: 8192 }],
  ['high', { level: 'HIGH', budget: 24_576 }],
  ['xhigh', { level: 'HIGH', budget: 32_768 }],
  ['max', { level: 'HIGH', budget: 32_768 }],
])
const ORDER: readonly Level[] = ['MINIMAL', 'LOW', 'MEDIUM', 'HIGH']

/** What the client asks for, as the model takes it. Throws `GatewayError` (400) for an unknown effort. */
export function toReasoning(asked: AskedThinking | undefined, facts: ModelFacts): Reasoning {
  if (asked === undefined) return {}
  const { effort, budget: tokens } = asked
  const requested = expectEffort(asked)
  const isOff = effort === 'none'
  if (facts.thinking === 'none') return isOff ? {} : { dropped: true }
  const shown = !isOff && { includeThoughts: true }
  if (facts.thinking === 'level') {
    return { thinkingConfig: { thinkingLevel: nearestLevel(requested.level, facts), ...shown }, dropped: tokens !== undefined }
  }
  const budget = nearestBudget(tokens ?? requested.budget, facts.budget)
  return { thinkingConfig: { thinkingBudget: budget, ...shown }, dropped: tokens !== undefined && budget !== tokens }
}

/** What an effort is in Google's terms. Throws `GatewayError` (400) for an unknown one. */
export function expectEffort({ effort, param }: AskedThinking): { readonly level: Level; readonly budget: number } {
  const requested = EFFORTS.get(effort)
  if (requested) return requested
  throw invalidValue(param, `expected one of ${[...EFFORTS.keys()].join(', ')}`)
}

/** The highest level of the model up to the requested one, or its lowest. */
export function nearestLevel(requested: Level, { levels }: ModelFacts): Level {
  const known = ORDER.filter((level) => levels.includes(level))
  return known.findLast((level) => ORDER.indexOf(level) <= ORDER.indexOf(requested)) ?? known[0]!
}

function nearestBudget(requested: number, { least, most, off }: ModelFacts['budget']): number {
  return requested === 0 && off ? 0 : Math.min(Math.max(requested, least), most)
}

/**
 * The signed thought that led to a tool call: Gemini 3 answers 400 if the first function call of a step comes back without its
 * signature. OpenAI has no field for it, so the client keeps it with the call, as in Google's own OpenAI-compatible API:
 * `tool_calls[].extra_content.google.thought_signature` ("Thought signatures", ai.google.dev).
 */
export interface ThinkingState {
  readonly extra_content: { readonly google: { readonly thought_signature: string } }
}

/** The thinking state of a tool call; undefined without a signature. */
export function toThinkingState(signature: string | undefined): ThinkingState | undefined {
  return signature === undefined ? undefined : { extra_content: { google: { thought_signature: signature } } }
}

/** Google's own value for a signature that was lost, or that another model's call never had. */
const LOST = 'skip_thought_signature_validator'

/** The signatures of a client's tool calls in one message. Of parallel calls only the first has one. */
export function signaturesOf(calls: readonly ToolCall[], facts: ModelFacts): (string | undefined)[] {
  const signatures = calls.map(readThinkingState)
  const isSigned = signatures.some((signature) => signature !== undefined)
  return facts.signatures && !isSigned ? signatures.with(0, LOST) : signatures
}

function readThinkingState({ extra_content: extra }: ToolCall): string | undefined {
  const google = isRecord(extra) && isRecord(extra.google) ? extra.google : {}
  return typeof google.thought_signature === 'string' && google.thought_signature !== '' ? google.thought_signature : undefined
}
