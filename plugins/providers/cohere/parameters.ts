import { dropped, mapped, onlyOpenai, type ParameterSupport, refused } from 'unified-model-gateway/plugin'

const NO_LOGPROBS = 'Cohere gives log probabilities of pieces of text, not of tokens.'

/** What becomes of each field of a chat completion request. docs/providers/cohere.md is compared with it by a test. */
export const parameters: Readonly<Record<string, ParameterSupport>> = {
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

  n: refused('Cohere gives one choice a call; call it several times.'),
  logprobs: refused(NO_LOGPROBS),
  top_logprobs: refused(NO_LOGPROBS),
  logit_bias: refused('Cohere takes no logit biases.'),

  ...onlyOpenai,
}
