import { type FinishReason, UpstreamError } from 'unified-model-gateway/plugin'

const FINISH: ReadonlyMap<unknown, FinishReason> = new Map([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_use', 'tool_calls'],
  ['guardrail_intervened', 'content_filter'],
  ['content_filtered', 'content_filter'],
] satisfies [string, FinishReason][])

/** The model wrote what Bedrock cannot read: there is no reply to give. */
const MALFORMED: ReadonlySet<unknown> = new Set(['malformed_model_output', 'malformed_tool_use'])

/**
 * Bedrock's `stopReason` as OpenAI's `finish_reason`; a new one is `stop`, for clients know no others. `called`: whether the reply
 * calls tools, which some models end as if they had not. Throws `UpstreamError` where the model wrote nonsense.
 */
export function toFinishReason(stopReason: unknown, called: boolean): FinishReason {
  if (MALFORMED.has(stopReason)) throw new UpstreamError({ status: 502, message: `The model stopped with ${stopReason}.` })
  const reason = FINISH.get(stopReason) ?? 'stop'
  return reason === 'stop' && called ? 'tool_calls' : reason
}
