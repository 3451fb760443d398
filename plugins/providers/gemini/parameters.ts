import { dropped, mapped, onlyOpenai, type ParameterSupport, refused } from 'unified-model-gateway/plugin'

/** What becomes of each field of a chat completion request. docs/providers/gemini.md is compared with it by a test. */
export const parameters: Readonly<Record<string, ParameterSupport>> = {
  model: mapped('the address'),
  messages: mapped('contents, systemInstruction'),
  stream: mapped('the address'),
  stream_options: mapped('the usage chunk, which the gateway writes'),
  max_tokens: mapped('generationConfig.maxOutputTokens'),
  max_completion_tokens: mapped('generationConfig.maxOutputTokens'),
  temperature: mapped('generationConfig.temperature'),
  top_p: mapped('generationConfig.topP'),
  frequency_penalty: mapped('generationConfig.frequencyPenalty'),
  presence_penalty: mapped('generationConfig.presencePenalty'),
  seed: mapped('generationConfig.seed'),
  stop: mapped('generationConfig.stopSequences'),
  n: mapped('generationConfig.candidateCount'),
  logprobs: mapped('generationConfig.responseLogprobs'),
  top_logprobs: mapped('generationConfig.logprobs'),
  tools: mapped('tools'),
  tool_choice: mapped('toolConfig.functionCallingConfig'),
  response_format: mapped('generationConfig.responseMimeType, responseJsonSchema'),
  reasoning_effort: mapped('generationConfig.thinkingConfig'),

  parallel_tool_calls: dropped,

  logit_bias: refused('Gemini takes no logit biases.'),

  ...onlyOpenai,
}
