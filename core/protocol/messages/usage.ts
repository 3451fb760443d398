import type { Usage } from '../../sdk/api.ts'
import { countOf } from '../../sdk/json.ts'
import type { DeltaUsage, WholeUsage } from './wire.ts'

/** The usage of a chat completion in the terms of the Messages API, where input tokens exclude those of the cache. */
export function toDeltaUsage(usage: Usage): DeltaUsage {
  const { prompt_tokens_details: prompt, completion_tokens_details: completion } = usage
  const cached = countOf(prompt?.cached_tokens)
  const written = countOf(prompt?.cache_write_tokens)
  const thinking = completion?.reasoning_tokens
  return {
    input_tokens: Math.max(0, countOf(usage.prompt_tokens) - cached - written),
    cache_creation_input_tokens: written,
    cache_read_input_tokens: cached,
    output_tokens: countOf(usage.completion_tokens),
    output_tokens_details: thinking === undefined ? null : { thinking_tokens: countOf(thinking) },
    server_tool_use: null,
  }
}

/** The usage of a whole message. */
export function toWholeUsage(usage: Usage): WholeUsage {
  const delta = toDeltaUsage(usage)
  const hour = Math.min(countOf(usage.prompt_tokens_details?.cache_write_1h_tokens), delta.cache_creation_input_tokens)
  const written = { ephemeral_1h_input_tokens: hour, ephemeral_5m_input_tokens: delta.cache_creation_input_tokens - hour }
  return {
    ...delta,
    cache_creation: delta.cache_creation_input_tokens > 0 ? written : null,
    inference_geo: null,
    service_tier: null,
    speed: null,
  }
}
