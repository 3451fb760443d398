import type { Usage } from '../../sdk/api.ts'
import { partsOf } from '../usage.ts'
import type { ResponseUsage } from './wire.ts'

/** The usage of a chat completion in the terms of the Responses API. */
export function toResponseUsage(usage: Usage): ResponseUsage {
  const { prompt, cached, written, completion, reasoning = 0 } = partsOf(usage)
  return {
    input_tokens: prompt,
    input_tokens_details: { cached_tokens: cached, cache_write_tokens: written },
    output_tokens: completion,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: prompt + completion,
  }
}
