import { dropped, mapped, onlyOpenai, type ParameterSupport, refused } from 'unified-model-gateway/plugin'

/** What becomes of each field of a chat completion request. docs/providers/ollama.md is compared with it by a test. */
export const parameters: Readonly<Record<string, ParameterSupport>> = {
  model: mapped('model'),
  messages: mapped('messages'),
  stream: mapped('stream'),
  stream_options: mapped('the usage chunk, which the gateway writes'),
  max_tokens: mapped('options.num_predict'),
  max_completion_tokens: mapped('options.num_predict'),
  temperature: mapped('options.temperature'),
  top_p: mapped('options.top_p'),
  top_k: mapped('options.top_k'),
  min_p: mapped('options.min_p'),
  frequency_penalty: mapped('options.frequency_penalty'),
  presence_penalty: mapped('options.presence_penalty'),
  repeat_penalty: mapped('options.repeat_penalty'),
  seed: mapped('options.seed'),
  stop: mapped('options.stop'),
  logprobs: mapped('logprobs'),
  top_logprobs: mapped('top_logprobs'),
  tools: mapped('tools'),
  tool_choice: mapped('tools: none of them, or those that are allowed'),
  response_format: mapped('format'),
  reasoning_effort: mapped('think'),

  parallel_tool_calls: dropped,

  n: refused('Ollama gives one choice a call; call it several times.'),
  logit_bias: refused('Ollama takes no logit biases.'),

  ...onlyOpenai,
}
