import type { Usage } from 'unified-model-gateway/plugin'
import type { WireUsage } from './wire.ts'

/** Bedrock counts cached tokens beside `inputTokens`; OpenAI's prompt_tokens includes them. Undefined where nothing was told. */
export function toUsage(usage: WireUsage | null | undefined): Usage | undefined {
  if (usage?.inputTokens === undefined && usage?.outputTokens === undefined) return undefined
  const cached = count(usage.cacheReadInputTokens)
  const written = count(usage.cacheWriteInputTokens)
  const prompt = count(usage.inputTokens) + cached + written
  const completion = count(usage.outputTokens)
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: cached, cache_write_tokens: written },
  }
}

function count(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0
}
