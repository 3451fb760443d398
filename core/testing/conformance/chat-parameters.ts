import type { Asked } from '../translator/run-translator.ts'

const TOOL = {
  type: 'function',
  function: { name: 'look', parameters: { type: 'object', properties: { at: { type: 'string' } } } },
}

const SCHEMA = {
  type: 'object',
  properties: { answer: { type: 'string' } },
  required: ['answer'],
  additionalProperties: false,
}

/**
 * The parameters of OpenAI's chat completions (openai-openapi, `CreateChatCompletionRequest`) without those that every call has, each
 * with the fields of a request that uses it.
 */
export const CHAT_PARAMETERS: Readonly<Record<string, Asked>> = {
  temperature: { temperature: 0.5 },
  top_p: { top_p: 0.5 },
  frequency_penalty: { frequency_penalty: 0.5 },
  presence_penalty: { presence_penalty: 0.5 },
  n: { n: 2 },
  max_tokens: { max_tokens: 2000 },
  max_completion_tokens: { max_completion_tokens: 2000 },
  stop: { stop: ['END'] },
  seed: { seed: 7 },
  logit_bias: { logit_bias: { 50256: -100 } },
  logprobs: { logprobs: true },
  top_logprobs: { logprobs: true, top_logprobs: 3 },
  tools: { tools: [TOOL] },
  tool_choice: { tools: [TOOL], tool_choice: 'required' },
  parallel_tool_calls: { tools: [TOOL], parallel_tool_calls: false },
  response_format: { response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: SCHEMA, strict: true } } },
  reasoning_effort: { reasoning_effort: 'low' },
  verbosity: { verbosity: 'low' },
  modalities: { modalities: ['text', 'image'] },
  audio: { modalities: ['text', 'audio'], audio: { voice: 'alloy', format: 'mp3' } },
  prediction: { prediction: { type: 'content', content: 'Hello' } },
  web_search_options: { web_search_options: {} },
  service_tier: { service_tier: 'flex' },
  store: { store: true },
  metadata: { metadata: { team: 'blue' } },
  user: { user: 'user-1' },
  safety_identifier: { safety_identifier: 'user-1' },
  prompt_cache_key: { prompt_cache_key: 'key-1' },
  prompt_cache_retention: { prompt_cache_retention: '24h' },
  prompt_cache_options: { prompt_cache_options: { mode: 'implicit' } },
  moderation: { moderation: { model: 'omni-moderation-latest' } },
}

/** Those that reach a provider as `tools` and `tool_choice`, unless it takes them: a table need not list them. */
export const FUNCTION_PARAMETERS: Readonly<Record<string, Asked>> = {
  functions: { functions: [{ name: 'look' }] },
  function_call: { functions: [{ name: 'look' }], function_call: 'auto' },
}

/** Members of other vendors' protocols: OpenAI has none of them, but a provider may map them. */
export const OTHER_PARAMETERS: Readonly<Record<string, Asked>> = {
  thinking: { thinking: { type: 'disabled' } },
  reasoning: { reasoning: { effort: 'low' } },
  top_k: { top_k: 40 },
}

const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const text = { type: 'text', text: 'Hello' }
const parameters = { type: 'object', properties: { at: { type: 'string' } }, required: ['at'], additionalProperties: false }

const drew = (more: object = {}): Asked => ({
  messages: [
    { role: 'user', content: 'Draw.' },
    { role: 'assistant', content: 'Done.', ...more },
    { role: 'user', content: 'Hello' },
  ],
})
const asks = (content: unknown, more: object = {}): Asked => ({ messages: [{ role: 'user', content, ...more }] })
const shows = (more: object = {}): Asked => asks([text, { type: 'image_url', image_url: { url: PIXEL, ...more } }])
const offers = (more: object = {}): Asked => ({ tools: [{ type: 'function', function: { name: 'look', parameters, ...more } }] })

/** A parameter inside messages or tools: the fields of a request with it, and of the same request without it. */
interface InnerParameter {
  readonly with: Asked
  readonly without: Asked
  /** OpenAI has none such: a table without it drops it. */
  readonly isOthers?: true
}

/** The parameters inside messages and tools. */
export const INNER_PARAMETERS: Readonly<Record<string, InnerParameter>> = {
  'messages.images': {
    with: drew({ images: [{ type: 'image_url', image_url: { url: PIXEL } }] }),
    without: drew(),
    isOthers: true,
  },
  'messages.name': { with: asks('Hello', { name: 'Ann' }), without: asks('Hello') },
  'image_url.detail': { with: shows({ detail: 'low' }), without: shows() },
  'tools.strict': { with: offers({ strict: true }), without: offers() },
  cache_control: { with: asks([{ ...text, cache_control: { type: 'ephemeral' } }]), without: asks([text]) },
  prompt_cache_breakpoint: { with: asks([{ ...text, prompt_cache_breakpoint: { mode: 'explicit' } }]), without: asks([text]) },
}

/** Parameters at values that mean the same as their absence. Many clients and frameworks send them by default. */
export const NEUTRAL_PARAMETERS: Asked = {
  n: 1,
  logprobs: false,
  top_logprobs: 0,
  logit_bias: {},
  frequency_penalty: 0,
  presence_penalty: 0,
  tool_choice: 'auto',
  parallel_tool_calls: true,
  modalities: ['text'],
  service_tier: 'auto',
  store: false,
  tools: null,
  stop: null,
  seed: null,
  response_format: { type: 'text' },
  audio: null,
}

/** Parameters of every call, which no case for parameters is about. */
export const STRUCTURE: ReadonlySet<string> = new Set(['model', 'messages', 'stream', 'stream_options'])
