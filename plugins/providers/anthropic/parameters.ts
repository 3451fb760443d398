import { dropped, mapped, type ParameterFate, refused } from 'unified-model-gateway/plugin'

const NO_AUDIO = 'Claude does not speak; ask for text.'
const NO_LOGPROBS = 'Anthropic gives no log probabilities.'
const USE_TOOLS = 'Use `tools` and `tool_choice`.'

/** What becomes of each field of a chat completion request. docs/providers/anthropic.md is compared with it by a test. */
export const parameters: Readonly<Record<string, ParameterFate>> = {
  model: mapped('model'),
  messages: mapped('messages, system'),
  stream: mapped('stream'),
  stream_options: mapped('the usage chunk, which the gateway writes'),
  max_tokens: mapped('max_tokens'),
  max_completion_tokens: mapped('max_tokens'),
  temperature: mapped('temperature'),
  top_p: mapped('top_p'),
  stop: mapped('stop_sequences'),
  tools: mapped('tools'),
  tool_choice: mapped('tool_choice'),
  parallel_tool_calls: mapped('tool_choice.disable_parallel_tool_use'),
  response_format: mapped('output_config.format'),
  reasoning_effort: mapped('thinking, output_config.effort'),

  frequency_penalty: dropped,
  presence_penalty: dropped,
  seed: dropped,
  verbosity: dropped,
  prediction: dropped,
  service_tier: dropped,
  store: dropped,
  metadata: dropped,
  user: dropped,
  safety_identifier: dropped,
  prompt_cache_key: dropped,
  prompt_cache_retention: dropped,
  prompt_cache_options: dropped,

  n: refused('Anthropic gives one choice a call; call it several times.'),
  logprobs: refused(NO_LOGPROBS),
  top_logprobs: refused(NO_LOGPROBS),
  logit_bias: refused('Anthropic takes no logit biases.'),
  modalities: refused(NO_AUDIO),
  audio: refused(NO_AUDIO),
  functions: refused(USE_TOOLS),
  function_call: refused(USE_TOOLS),
  web_search_options: refused('This provider does not search the web.'),
  moderation: refused('This provider does not moderate.'),
}
