/** Parameters of chat completions that have the same value in the Responses API, by their names there. */
export const SAME: Readonly<Record<string, string>> = {
  model: 'model',
  stream: 'stream',
  temperature: 'temperature',
  top_p: 'top_p',
  max_tokens: 'max_output_tokens',
  max_completion_tokens: 'max_output_tokens',
  // Chat completions have no such member: estimates read it by the client's name.
  max_output_tokens: 'max_output_tokens',
  top_logprobs: 'top_logprobs',
  user: 'user',
  service_tier: 'service_tier',
  safety_identifier: 'safety_identifier',
  prompt_cache_key: 'prompt_cache_key',
  prompt_cache_retention: 'prompt_cache_retention',
  prompt_cache_options: 'prompt_cache_options',
}

/** The other parameters that a translated request can have. */
export const NAMES: Readonly<Record<string, string>> = {
  max_completion_tokens: 'max_output_tokens',
  messages: 'input',
  // Only these items are pictures that a model has made.
  'messages.images': 'input.image_generation_call',
  reasoning_effort: 'reasoning.effort',
  thinking: 'reasoning.max_tokens',
  response_format: 'text.format',
  'response_format.strict': 'text.format.strict',
  'response_format.json_schema.schema': 'text.format.schema',
  verbosity: 'text.verbosity',
  logprobs: 'include',
}
