import { invalidValue } from 'unified-model-gateway/plugin'
import type { ModelFacts } from './models.ts'
import type { ChatBody } from './wire.ts'

/** How much a call is to think. */
export interface Thinking {
  readonly thinking?: ChatBody['thinking']
  /** The client's effort could not be honoured. */
  readonly dropped?: true
}

/** The share of a reply's tokens to think with (OpenRouter's shares); as much as it likes is what Cohere recommends. */
const SHARES: ReadonlyMap<string, number | undefined> = new Map([
  ['minimal', 0.1],
  ['low', 0.2],
  ['medium', 0.5],
  ['high', 0.8],
  ['xhigh', undefined],
  ['max', undefined],
])

/** `reasoning_effort` as this model takes it. Throws `GatewayError` for an effort nobody knows. */
export function toThinking(effort: string | undefined, maxTokens: number, facts: ModelFacts): Thinking {
  if (effort === undefined) return {}
  if (effort === 'none') return facts.thinking ? { thinking: { type: 'disabled' } } : {}
  if (!SHARES.has(effort)) throw invalidValue('reasoning_effort', `expected one of none, ${[...SHARES.keys()].join(', ')}`)
  if (!facts.thinking) return { dropped: true }
  const share = SHARES.get(effort)
  if (share === undefined) return { thinking: { type: 'enabled' } }
  return { thinking: { type: 'enabled', token_budget: Math.max(1, Math.floor(maxTokens * share)) } }
}
