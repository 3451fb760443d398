import type { Usage } from './chat.ts'
import { countOf } from './json.ts'

/** Numbers of tokens in Anthropic's Messages API. `input_tokens` excludes those read from or written to the cache. */
export interface MessagesUsage {
  readonly input_tokens?: unknown
  readonly output_tokens?: unknown
  readonly cache_read_input_tokens?: unknown
  /** All of them; `cache_creation` has those of each lifetime. */
  readonly cache_creation_input_tokens?: unknown
  readonly cache_creation?: { readonly ephemeral_1h_input_tokens?: unknown } | null
  readonly output_tokens_details?: { readonly thinking_tokens?: unknown } | null
}

/** The usage of a message in OpenAI's terms, whose prompt tokens include cached ones. Undefined if no counts were reported. */
export function usageOfMessages(usage: MessagesUsage): Usage | undefined {
  if (usage.input_tokens === undefined && usage.output_tokens === undefined) return undefined
  const cached = countOf(usage.cache_read_input_tokens)
  const written = countOf(usage.cache_creation_input_tokens)
  const writtenForHour = countOf(usage.cache_creation?.ephemeral_1h_input_tokens)
  const prompt = countOf(usage.input_tokens) + cached + written
  const completion = countOf(usage.output_tokens)
  const thinking = usage.output_tokens_details?.thinking_tokens
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: {
      cached_tokens: cached,
      cache_write_tokens: written,
      ...(writtenForHour > 0 && { cache_write_1h_tokens: writtenForHour }),
    },
    ...(thinking !== undefined && { completion_tokens_details: { reasoning_tokens: countOf(thinking) } }),
  }
}
