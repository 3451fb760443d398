import type { Usage } from '../../sdk/api.ts'
import { countOf } from '../../sdk/json.ts'
import type { ResponseUsage } from './wire.ts'

/** The usage of a chat completion in the terms of the Responses API. */
export function toResponseUsage(usage: Usage): ResponseUsage {
  const { prompt_tokens_details: prompt, completion_tokens_details: completion } = usage
  return {
    input_tokens: countOf(usage.prompt_tokens),
    input_tokens_details: {
      cached_tokens: countOf(prompt?.cached_tokens),
      cache_write_tokens: countOf(prompt?.cache_write_tokens),
    },
    output_tokens: countOf(usage.completion_tokens),
    output_tokens_details: { reasoning_tokens: countOf(completion?.reasoning_tokens) },
    total_tokens: countOf(usage.total_tokens),
  }
}
