import type { Call, Usage } from '../plugin/api.ts'

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0

/**
 * What an upstream says it used, if that can be charged; undefined where it cannot (negative, 1e308, strings, nothing). The total,
 * where it is not told as a count, is the sum.
 */
export function readUsage(value: unknown): Usage | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { prompt_tokens: prompt, completion_tokens: completion, total_tokens: total } = value as Partial<Usage>
  if (!isCount(prompt) || !isCount(completion)) return undefined
  return isCount(total) ? (value as Usage) : { ...(value as Usage), total_tokens: prompt + completion }
}

/** Tokens of a call's prompt, where the upstream does not say: one for four bytes of its body. */
export const promptEstimate = ({ size }: Pick<Call, 'size'>): number => Math.ceil(size / 4)
