import { dropped, mapped, onlyOpenai, type ParameterSupport, refused } from 'unified-model-gateway/plugin'

const NO_LOGPROBS = 'Anthropic gives no log probabilities.'

/** What becomes of each field of a chat completion request. docs/providers/anthropic.md is compared with it by a test. */
export const parameters: Readonly<Record<string, ParameterSupport>> = {
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

  n: refused('Anthropic gives one choice a call; call it several times.'),
  logprobs: refused(NO_LOGPROBS),
  top_logprobs: refused(NO_LOGPROBS),
  logit_bias: refused('Anthropic takes no logit biases.'),

  ...onlyOpenai,
}
