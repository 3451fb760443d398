import type { Usage } from 'unified-model-gateway/plugin'
import type { WireUsage } from './wire.ts'

/** What the model read and wrote; where Cohere does not say, what it bills. Undefined where nothing was told. */
export function toUsage(usage: WireUsage | null | undefined): Usage | undefined {
  const counts = usage?.tokens ?? usage?.billed_units
  if (counts?.input_tokens === undefined && counts?.output_tokens === undefined) return undefined
  const prompt = count(counts.input_tokens)
  const completion = count(counts.output_tokens)
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    ...(usage?.cached_tokens != null && { prompt_tokens_details: { cached_tokens: count(usage.cached_tokens) } }),
  }
}

/** Cohere writes whole numbers as `12.0`, which are the same in JSON. */
function count(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0
}
