import { dropped, mapped, onlyOpenai, type ParameterSupport, refused } from 'unified-model-gateway/plugin'

const NO_LOGPROBS = 'Bedrock gives no log probabilities.'

/** What becomes of each field of a chat completion request. docs/providers/bedrock.md is compared with it by a test. */
export const parameters: Readonly<Record<string, ParameterSupport>> = {
  model: mapped('the path'),
  messages: mapped('messages, system'),
  stream: mapped('the operation: ConverseStream'),
  stream_options: mapped('the usage chunk, which the gateway writes'),
  max_tokens: mapped('inferenceConfig.maxTokens'),
  max_completion_tokens: mapped('inferenceConfig.maxTokens'),
  temperature: mapped('inferenceConfig.temperature'),
  top_p: mapped('inferenceConfig.topP'),
  stop: mapped('inferenceConfig.stopSequences'),
  tools: mapped('toolConfig.tools'),
  tool_choice: mapped('toolConfig.toolChoice'),
  parallel_tool_calls: mapped('additionalModelRequestFields.tool_choice'),
  response_format: mapped('outputConfig.textFormat'),
  reasoning_effort: mapped('additionalModelRequestFields'),

  frequency_penalty: dropped,
  presence_penalty: dropped,
  seed: dropped,

  n: refused('Bedrock gives one choice a call; call it several times.'),
  logprobs: refused(NO_LOGPROBS),
  top_logprobs: refused(NO_LOGPROBS),
  logit_bias: refused('Converse takes no logit biases.'),

  ...onlyOpenai,
}
