/** Parameters of chat completions that have the same value in the Messages API, by their names there. */
export const SAME: Readonly<Record<string, string>> = {
  model: 'model',
  stream: 'stream',
  temperature: 'temperature',
  top_p: 'top_p',
  top_k: 'top_k',
  max_tokens: 'max_tokens',
  max_completion_tokens: 'max_tokens',
}

/** The other parameters that a translated request can have. */
export const NAMES: Readonly<Record<string, string>> = {
  max_completion_tokens: 'max_tokens',
  stop: 'stop_sequences',
  reasoning_effort: 'thinking',
  response_format: 'output_config.format',
  parallel_tool_calls: 'tool_choice.disable_parallel_tool_use',
  user: 'metadata.user_id',
}
