import { dropped, mapped, type ParameterFate, refused } from 'unified-model-gateway/plugin'

const NO_AUDIO = 'Cohere does not speak; ask for text.'
const NO_LOGPROBS = 'Cohere gives log probabilities of pieces of text, not of tokens.'
const USE_TOOLS = 'Use `tools` and `tool_choice`.'

/** What becomes of each field of a chat completion request. docs/providers/cohere.md is compared with it by a test. */
export const parameters: Readonly<Record<string, ParameterFate>> = {
  model: mapped('model'),
  messages: mapped('messages'),
  stream: mapped('stream'),
  stream_options: mapped('the usage chunk, which the gateway writes'),
  max_tokens: mapped('max_tokens'),
  max_completion_tokens: mapped('max_tokens'),
  temperature: mapped('temperature'),
  top_p: mapped('p'),
  frequency_penalty: mapped('frequency_penalty'),
  presence_penalty: mapped('presence_penalty'),
  seed: mapped('seed'),
  stop: mapped('stop_sequences'),
  tools: mapped('tools'),
  tool_choice: mapped('tool_choice'),
  response_format: mapped('response_format'),
  reasoning_effort: mapped('thinking'),

  parallel_tool_calls: dropped,
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

  n: refused('Cohere gives one choice a call; call it several times.'),
  logprobs: refused(NO_LOGPROBS),
  top_logprobs: refused(NO_LOGPROBS),
  logit_bias: refused('Cohere takes no logit biases.'),
  modalities: refused(NO_AUDIO),
  audio: refused(NO_AUDIO),
  functions: refused(USE_TOOLS),
  function_call: refused(USE_TOOLS),
  web_search_options: refused('This provider does not search the web.'),
  moderation: refused('This provider does not moderate.'),
}
