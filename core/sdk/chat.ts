/**
 * The wire types of OpenAI's chat completions that plugins use (openai-openapi, `CreateChatCompletionRequest` and on). Unknown fields are
 * kept: hence the index signatures.
 */

/** The body of `POST /v1/chat/completions`, validated: members have the types given here. `null` counts as absent. */
export interface ChatRequest {
  model: string
  messages: ChatMessage[]
  stream?: boolean | null
  stream_options?: { include_usage?: boolean | null; [key: string]: unknown } | null
  max_tokens?: number | null
  max_completion_tokens?: number | null
  temperature?: number | null
  top_p?: number | null
  n?: number | null
  stop?: string | string[] | null
  tools?: ChatTool[] | null
  tool_choice?: ToolChoice | null
  parallel_tool_calls?: boolean | null
  response_format?: ResponseFormat | null
  reasoning_effort?: string | null
  user?: string | null
  [key: string]: unknown
}

/** One message of a conversation, of any role. */
export interface ChatMessage {
  role: 'developer' | 'system' | 'user' | 'assistant' | 'tool' | 'function'
  content?: string | ContentPart[] | null
  name?: string | null
  refusal?: string | null
  tool_calls?: ToolCall[] | null
  tool_call_id?: string
  reasoning_content?: string | null
  [key: string]: unknown
}

/** A part of a message whose content is a list. */
export type ContentPart =
  | { type: 'text'; text: string }
  | { type: 'refusal'; refusal: string }
  | { type: 'image_url'; image_url: { url: string; detail?: string | null } }
  | { type: 'input_audio'; input_audio: { data: string; format: string } }
  | { type: 'file'; file: { filename?: string; file_data?: string; file_id?: string } }

/** A tool that the model may call. */
export type ChatTool =
  | {
      type: 'function'
      function: { name: string; description?: string; parameters?: Record<string, unknown>; strict?: boolean | null }
    }
  | { type: 'custom'; custom: { name: string; [key: string]: unknown } }

/** Whether the model must call a tool, and which. */
export type ToolChoice =
  | 'none'
  | 'auto'
  | 'required'
  | { type: 'function'; function: { name: string } }
  | { type: 'custom'; custom: { name: string } }
  | { type: 'allowed_tools'; allowed_tools: { mode: 'auto' | 'required'; tools: unknown[] } }

/** The format of the answer's text. */
export type ResponseFormat =
  | { type: 'text' }
  | { type: 'json_object' }
  | {
      type: 'json_schema'
      json_schema: { name: string; description?: string; schema?: Record<string, unknown>; strict?: boolean | null }
    }

/** The model's call of a tool. */
export type ToolCall = FunctionToolCall | CustomToolCall

/** A call of a function; `arguments` is JSON text. */
export interface FunctionToolCall {
  id: string
  type: 'function'
  function: { name: string; arguments: string }
  /** State that a provider needs back with the call in the next turn, under its own name: signatures, reasoning. */
  extra_content?: Record<string, unknown>
  [key: string]: unknown
}

/** A call of a custom tool, whose input is plain text. */
export interface CustomToolCall {
  id: string
  type: 'custom'
  custom: { name: string; input: string }
  function?: undefined
  extra_content?: Record<string, unknown>
  [key: string]: unknown
}

/** The finish reasons that clients know; they receive no others. */
export const FINISH_REASONS = ['stop', 'length', 'tool_calls', 'content_filter', 'function_call'] as const

/** Why a choice ended. */
export type FinishReason = (typeof FINISH_REASONS)[number]

/**
 * Numbers of tokens. `prompt_tokens` includes all that the upstream read, cached tokens too; `completion_tokens` includes reasoning. The
 * details are subsets of them, by which a call is priced.
 */
export interface Usage {
  prompt_tokens: number
  completion_tokens: number
  total_tokens: number
  prompt_tokens_details?: PromptTokensDetails | null
  completion_tokens_details?: CompletionTokensDetails | null
  [key: string]: unknown
}

/** Subsets of `prompt_tokens`. */
export interface PromptTokensDetails {
  /** Read from the upstream's cache. */
  cached_tokens?: number
  /** The audio among `cached_tokens`. */
  cached_audio_tokens?: number
  /** Written to the upstream's cache. */
  cache_write_tokens?: number
  /** Those of `cache_write_tokens` that are kept for an hour. */
  cache_write_1h_tokens?: number
  /** Those of `cache_write_tokens` by how long they are kept, as OpenAI reports them since GPT-5.6 (its SDK 7.50, 2026-11-03). */
  cache_write_tokens_details?: { readonly ttl_30m_tokens?: number; readonly ttl_12h_tokens?: number } | null
  /** Cached audio included. */
  audio_tokens?: number
  image_tokens?: number
  /** Tokens that the upstream reports and does not bill. */
  unbilled_tokens?: number
  [key: string]: unknown
}

/** Subsets of `completion_tokens`. */
export interface CompletionTokensDetails {
  reasoning_tokens?: number
  audio_tokens?: number
  image_tokens?: number
  /** Tokens that the upstream reports and does not bill. */
  unbilled_tokens?: number
  [key: string]: unknown
}

/** A whole reply. */
export interface ChatCompletion {
  id: string
  object: 'chat.completion'
  /** Unix seconds. */
  created: number
  model: string
  choices: {
    index: number
    message: {
      role: 'assistant'
      content: string | null
      refusal: string | null
      tool_calls?: ToolCall[]
      reasoning_content?: string
      [key: string]: unknown
    }
    finish_reason: FinishReason
    logprobs: unknown
    [key: string]: unknown
  }[]
  usage?: Usage
  [key: string]: unknown
}

/** One event of a stream. */
export interface ChatChunk {
  id: string
  object: 'chat.completion.chunk'
  created: number
  model: string
  choices: ChunkChoice[]
  usage?: Usage | null
  [key: string]: unknown
}

/** One choice of a chunk. */
export interface ChunkChoice {
  index: number
  delta: ChatDelta
  finish_reason: FinishReason | null
  [key: string]: unknown
}

/** The new pieces of a choice's message, which clients concatenate. */
export interface ChatDelta {
  role?: 'assistant'
  content?: string | null
  refusal?: string | null
  reasoning_content?: string | null
  tool_calls?: ToolCallDelta[]
  [key: string]: unknown
}

/** A piece of a tool call; the first piece has the id and the name. */
export interface ToolCallDelta {
  /** In a translator: any number, the same for all parts of one call; core renumbers from 0. */
  index: number
  id?: string
  type?: 'function' | 'custom'
  function?: { name?: string; arguments?: string }
  custom?: { name?: string; input?: string }
  extra_content?: Record<string, unknown>
  [key: string]: unknown
}
