import { dropped, mapped, type ParameterFate, refused } from 'unified-model-gateway/plugin'

const NO_AUDIO = 'This provider gives no sound; ask for text.'
const USE_TOOLS = 'Use `tools` and `tool_choice`.'

/** What becomes of each field of a chat completion request. docs/providers/gemini.md is compared with it by a test. */
export const parameters: Readonly<Record<string, ParameterFate>> = {
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

  logit_bias: refused('Gemini takes no logit biases.'),
  modalities: refused(NO_AUDIO),
  audio: refused(NO_AUDIO),
  functions: refused(USE_TOOLS),
  function_call: refused(USE_TOOLS),
  web_search_options: refused('This provider does not search the web.'),
  moderation: refused('This provider does not moderate.'),
}
