/**
 * The wire types of Google's Interactions API that this provider uses, `v1beta` of the Gemini API: from the types of @google/genai 3.3
 * (2026-11-26), and "Streaming interactions" and "API errors" of ai.google.dev.
 */

/** The body of `POST /v1beta/interactions`. */
export interface InteractionRequest {
  readonly model: string
  readonly input: readonly InputStep[]
  readonly system_instruction?: string
  readonly tools?: readonly Tool[]
  readonly response_format?: ResponseFormat
  readonly generation_config?: GenerationConfig
  readonly service_tier?: string
  /** False: Google keeps neither the request nor the reply. Its default is true. */
  readonly store: false
  readonly stream: boolean
}

/** A step of the conversation so far. */
export type InputStep =
  | { readonly type: 'user_input' | 'model_output'; readonly content: readonly Content[] }
  /** It stands before what it led to. */
  | { readonly type: 'thought'; readonly signature: string }
  | FunctionCallStep
  | { readonly type: 'function_result'; readonly call_id: string; readonly name: string; readonly result: string }

/** A call of a function. */
export interface FunctionCallStep {
  readonly type: 'function_call'
  readonly id: string
  readonly name: string
  readonly arguments: Readonly<Record<string, unknown>>
}

/** A part of a step: a text, or a medium by its data (base64) or its address. */
export type Content =
  | { readonly type: 'text'; readonly text: string }
  | {
      readonly type: 'image' | 'audio' | 'video' | 'document'
      readonly mime_type?: string
      readonly data?: string
      readonly uri?: string
    }

/** A function of the client's, or Google's own search of the web. */
export type Tool =
  | {
      readonly type: 'function'
      readonly name: string
      readonly description?: string
      readonly parameters?: Readonly<Record<string, unknown>>
    }
  | { readonly type: 'google_search' }

/** The form of the answer. */
export interface ResponseFormat {
  readonly type: 'text'
  readonly mime_type: 'application/json'
  readonly schema?: Readonly<Record<string, unknown>>
}

/** Whether functions are called. `validated` is `auto` with enforced schemas. */
export type ToolChoiceMode = 'auto' | 'any' | 'none' | 'validated'

/** The settings of the generation. `temperature` and `top_p` are to be removed; there are neither penalties nor log probabilities. */
export interface GenerationConfig {
  readonly max_output_tokens?: number
  readonly temperature?: number
  readonly top_p?: number
  readonly seed?: number
  readonly stop_sequences?: readonly string[]
  readonly thinking_level?: string
  /** Whether thoughts are told. Google's default: none. */
  readonly thinking_summaries?: 'auto'
  readonly tool_choice?: ToolChoiceMode | { readonly allowed_tools: { readonly mode: 'any'; readonly tools: readonly string[] } }
}

// Replies are not trusted: members are unknown until the code that uses them has checked them.

/** A whole reply, or the part of it that an event has. */
export interface Interaction {
  /** Empty if the interaction is not stored. */
  readonly id?: unknown
  readonly status?: unknown
  readonly steps?: unknown
  readonly errors?: unknown
  readonly usage?: unknown
  readonly service_tier?: unknown
}

/** A step of a reply. Steps of other kinds, such as calls of Google's own tools, are ignored. */
export interface ReplyStep {
  readonly type?: unknown
  /** Of `model_output`. */
  readonly content?: unknown
  readonly error?: unknown
  /** Of `thought`. */
  readonly signature?: unknown
  readonly summary?: unknown
  /** Of `function_call`. */
  readonly id?: unknown
  readonly name?: unknown
  readonly arguments?: unknown
}

/** An event of a stream. Events of other types are ignored, as the API's rules for versions ask. */
export interface InteractionEvent {
  readonly event_type?: unknown
  readonly interaction?: unknown
  readonly status?: unknown
  readonly index?: unknown
  readonly step?: unknown
  readonly delta?: unknown
  readonly usage?: unknown
  readonly error?: unknown
}

/** Numbers of tokens. Those of the input include what was cached, those of the output exclude thoughts. */
export interface InteractionUsage {
  readonly total_input_tokens?: unknown
  readonly total_output_tokens?: unknown
  readonly total_thought_tokens?: unknown
  readonly total_cached_tokens?: unknown
  readonly total_tool_use_tokens?: unknown
  readonly input_tokens_by_modality?: unknown
  readonly cached_tokens_by_modality?: unknown
  readonly output_tokens_by_modality?: unknown
}
