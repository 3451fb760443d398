import { dropped, mapped, onlyOpenai, type ParameterSupport, refused } from 'unified-model-gateway/plugin'

/**
 * What becomes of each field of a chat completion request. Leave out what is harmless, and let the reply say so; refuse what would
 * change the meaning.
 */
export const parameters: Readonly<Record<string, ParameterSupport>> = {
  model: mapped('engine'),
  messages: mapped('turns'),
  stream: mapped('live'),
  stream_options: mapped('the usage chunk, which the gateway writes'),
  max_tokens: mapped('words'),
  max_completion_tokens: mapped('words'),
  temperature: mapped('creativity'),
  tools: mapped('tools'),

  frequency_penalty: dropped,
  presence_penalty: dropped,
  top_p: dropped,
  seed: dropped,
  reasoning_effort: dropped,

  n: refused('Parrot gives one choice a call.'),
  stop: refused('Parrot takes no stop sequences.'),
  tool_choice: refused('Parrot chooses by itself: say in the prompt what is to be called.'),
  parallel_tool_calls: refused('Parrot decides by itself how many tools it calls.'),
  response_format: refused('Parrot speaks as it likes.'),
  logprobs: refused('Parrot gives no log probabilities.'),
  top_logprobs: refused('Parrot gives no log probabilities.'),
  logit_bias: refused('Parrot takes no logit biases.'),

  // Fields that hardly any service but OpenAI knows.
  ...onlyOpenai,
}
