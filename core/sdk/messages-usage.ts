import type { Usage } from './chat.ts'
import { countOf, isCount } from './json.ts'

/** Numbers of tokens in Anthropic's Messages API. `input_tokens` excludes those read from or written to the cache. */
export interface MessagesUsage {
  readonly input_tokens?: unknown
  readonly output_tokens?: unknown
  readonly cache_read_input_tokens?: unknown
  /** All of them; `cache_creation` has those of each lifetime. */
  readonly cache_creation_input_tokens?: unknown
  readonly cache_creation?: { readonly ephemeral_1h_input_tokens?: unknown } | null
  readonly output_tokens_details?: { readonly thinking_tokens?: unknown } | null
  /** `standard`, `priority`, `batch`. */
  readonly service_tier?: unknown
  /** `standard`, `fast`. */
  readonly speed?: unknown
  /** `global`, `us`, `not_available`. */
  readonly inference_geo?: unknown
}

/**
 * The usage of a message in OpenAI's terms, whose prompt tokens include cached ones. A count that was not reported, or is none, is left out;
 * undefined if no counts were reported.
 */
export function usageOfMessages(usage: MessagesUsage): Partial<Usage> | undefined {
  if (usage.input_tokens === undefined && usage.output_tokens === undefined) return undefined
  const cached = countOf(usage.cache_read_input_tokens)
  const written = countOf(usage.cache_creation_input_tokens)
  const writtenForHour = countOf(usage.cache_creation?.ephemeral_1h_input_tokens)
  const prompt = isCount(usage.input_tokens) ? usage.input_tokens + cached + written : undefined
  const completion = isCount(usage.output_tokens) ? usage.output_tokens : undefined
  const thinking = usage.output_tokens_details?.thinking_tokens
  return {
    ...(prompt !== undefined && { prompt_tokens: prompt }),
    ...(completion !== undefined && { completion_tokens: completion }),
    ...(prompt !== undefined && completion !== undefined && { total_tokens: prompt + completion }),
    prompt_tokens_details: {
      cached_tokens: cached,
      cache_write_tokens: written,
      ...(writtenForHour > 0 && { cache_write_1h_tokens: writtenForHour }),
    },
    ...(thinking !== undefined && { completion_tokens_details: { reasoning_tokens: countOf(thinking) } }),
    // At another price, which the settings of a workspace may have chosen.
    ...(usage.speed === 'fast' && { speed: 'fast' }),
    ...(usage.inference_geo === 'us' && { inference_geo: 'us' }),
  }
}
