import type { Call, Usage } from '../sdk/api.ts'

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0

/**
 * The usage that an upstream reports; undefined if it cannot be charged (negative, 1e308, strings, nothing). A total that is not a
 * count is replaced by the sum.
 */
export function readUsage(value: unknown): Usage | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { prompt_tokens: prompt, completion_tokens: completion, total_tokens: total } = value as Partial<Usage>
  if (!isCount(prompt) || !isCount(completion)) return undefined
  return isCount(total) ? (value as Usage) : { ...(value as Usage), total_tokens: prompt + completion }
}

/** Prompt tokens of a call if the upstream reports none: one per four bytes of its body. */
export const promptEstimate = ({ size }: Pick<Call, 'size'>): number => Math.ceil(size / 4)

/** Tokens by type, with OpenTelemetry's names; cached ones are part of the input, reasoning is part of the output. */
export interface Tokens {
  readonly input: number | undefined
  readonly output: number | undefined
  readonly cached_input: number | undefined
  readonly reasoning: number | undefined
}

/** The token counts of a usage object. An upstream may send any value: only counts are taken. */
export function tokensOf(usage: Usage): Tokens {
  return {
    input: count(usage.prompt_tokens),
    output: count(usage.completion_tokens),
    cached_input: count(usage.prompt_tokens_details?.cached_tokens),
    reasoning: count(usage.completion_tokens_details?.reasoning_tokens),
  }
}

function count(tokens: unknown): number | undefined {
  return Number.isSafeInteger(tokens) && (tokens as number) >= 0 ? (tokens as number) : undefined
}
