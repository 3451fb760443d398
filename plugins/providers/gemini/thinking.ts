import { invalidValue } from 'unified-model-gateway/plugin'
import type { ModelFacts } from './models.ts'
import type { Taken } from './taken.ts'

/** Per OpenAI effort: Gemini's level, and for models with a budget its tokens ("OpenAI compatibility", ai.google.dev). */
const EFFORTS: ReadonlyMap<string, { readonly level: ModelFacts['levels'][number]; readonly budget: number }> = new Map([
  ['none', { level: 'MINIMAL', budget: 0 }],
  ['minimal', { level: 'MINIMAL', budget: 1024 }],
  ['low', { level: 'LOW', budget: 1024 }],
  ['medium', { level: 'MEDIUM', budget: 8192 }],
  ['high', { level: 'HIGH', budget: 24_576 }],
  ['xhigh', { level: 'HIGH', budget: 32_768 }],
  ['max', { level: 'HIGH', budget: 32_768 }],
])
const ORDER: ModelFacts['levels'] = ['MINIMAL', 'LOW', 'MEDIUM', 'HIGH']

/** `reasoning_effort` as this model takes it. Throws `GatewayError` for an effort nobody knows. */
export function toThinking(effort: string | undefined, facts: ModelFacts): Taken {
  if (effort === undefined) return { taken: {}, dropped: [] }
  const asked = EFFORTS.get(effort)
  if (!asked) throw invalidValue('reasoning_effort', `expected one of ${[...EFFORTS.keys()].join(', ')}`)
  if (facts.thinking === 'none') return { taken: {}, dropped: effort === 'none' ? [] : ['reasoning_effort'] }
  const amount =
    facts.thinking === 'level'
      ? { thinkingLevel: nearestLevel(asked.level, facts) }
      : { thinkingBudget: within(asked.budget, facts.budget) }
  return { taken: { thinkingConfig: { ...amount, ...(effort !== 'none' && { includeThoughts: true }) } }, dropped: [] }
}

/** Never more than was asked for, where the model can think that little. */
function nearestLevel(asked: ModelFacts['levels'][number], { levels }: ModelFacts): ModelFacts['levels'][number] {
  const known = ORDER.filter((level) => levels.includes(level))
  return known.findLast((level) => ORDER.indexOf(level) <= ORDER.indexOf(asked)) ?? known[0]!
}

function within(asked: number, { least, most, off }: ModelFacts['budget']): number {
  return asked === 0 && off ? 0 : Math.min(Math.max(asked, least), most)
}
