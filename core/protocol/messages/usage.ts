import type { Usage } from '../../sdk/api.ts'
import { countOf } from '../../sdk/json.ts'
import { partsOf } from '../usage.ts'
import type { DeltaUsage, WholeUsage } from './wire.ts'

/** The usage of a chat completion in the terms of the Messages API, where input tokens exclude those of the cache. */
export function toDeltaUsage(usage: Usage): DeltaUsage {
  const { prompt, cached, written, completion, reasoning } = partsOf(usage)
  return {
    input_tokens: prompt - cached - written,
    cache_creation_input_tokens: written,
    cache_read_input_tokens: cached,
    output_tokens: completion,
    output_tokens_details: reasoning === undefined ? null : { thinking_tokens: reasoning },
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
