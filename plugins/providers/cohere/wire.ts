/**
 * Cohere's Chat API, version 2, on the wire, as far as this provider speaks it: from the types of cohere-ai 8.1 (`serialization`) and
 * cohere-openapi.yaml (cohere-developer-experience e814c8a).
 */

/** The body of `POST /v2/chat`. */
export interface ChatBody {
  readonly model: string
  readonly messages: readonly Message[]
  readonly stream?: true
  readonly max_tokens?: number
  /** 0 to 1. */
  readonly temperature?: number
  /** 0.01 to 0.99. */
  readonly p?: number
  readonly seed?: number
  /** 0 to 1. */
  readonly frequency_penalty?: number
  /** 0 to 1. */
  readonly presence_penalty?: number
  readonly stop_sequences?: readonly string[]
  readonly tools?: readonly Tool[]
  readonly tool_choice?: 'REQUIRED' | 'NONE'
  readonly response_format?: { readonly type: 'json_object'; readonly json_schema?: Readonly<Record<string, unknown>> }
  readonly thinking?: { readonly type: 'enabled' | 'disabled'; readonly token_budget?: number }
}

/** One message. None is empty, which is a 400. */
export type Message =
  | { readonly role: 'system'; readonly content: string }
  | { readonly role: 'user'; readonly content: string | readonly UserContent[] }
  | AssistantMessage
  | { readonly role: 'tool'; readonly tool_call_id: string; readonly content: string | readonly TextContent[] }

/** What the model said before: words, or calls of tools with the plan or the thoughts that led to them. */
export interface AssistantMessage {
  readonly role: 'assistant'
  readonly content?: string | readonly ThinkingContent[]
  readonly tool_plan?: string
  readonly tool_calls?: readonly WireToolCall[]
}

/** A part of the user's words. */
export type UserContent = TextContent | ImageContent

/** Words. */
export interface TextContent {
  readonly type: 'text'
  readonly text: string
}

/** A picture: an address that Cohere fetches, or a data URL. */
export interface ImageContent {
  readonly type: 'image_url'
  readonly image_url: { readonly url: string; readonly detail?: 'auto' | 'low' | 'high' }
}

/** What a reasoning model thought. */
export interface ThinkingContent {
  readonly type: 'thinking'
  readonly thinking: string
}

/** A call of a tool. No two of a conversation have one id. */
export interface WireToolCall {
  readonly id: string
  readonly type: 'function'
  readonly function: { readonly name: string; readonly arguments: string }
}

/** A tool of the client's. */
export interface Tool {
  readonly type: 'function'
  readonly function: {
    readonly name: string
    readonly description?: string
    readonly parameters: Readonly<Record<string, unknown>>
  }
}

// What Cohere sends is not taken on trust: values stay unknown until the code that uses them has looked.

/** The whole reply to a call without `stream`. */
export interface Reply {
  readonly id?: unknown
  readonly message?: ReplyMessage | null
  readonly finish_reason?: unknown
  readonly usage?: WireUsage | null
}

/** The message of a reply. */
export interface ReplyMessage {
  readonly content?: unknown
  readonly tool_plan?: unknown
  readonly tool_calls?: unknown
}

/** A part of a reply's content, whole or a piece of it. */
export interface ReplyContent {
  readonly type?: unknown
  readonly text?: unknown
  readonly thinking?: unknown
}

/** A call of a tool in a reply, whole or a piece of it. */
export interface ReplyToolCall {
  readonly id?: unknown
  readonly function?: { readonly name?: unknown; readonly arguments?: unknown } | null
}

/** One event of a stream: the fields of all its types. */
export interface StreamEvent {
  readonly type?: unknown
  readonly id?: unknown
  readonly index?: number
  readonly delta?: {
    readonly message?: {
      readonly content?: ReplyContent | null
      readonly tool_plan?: unknown
      readonly tool_calls?: ReplyToolCall | null
    } | null
    /** In message-end. */
    readonly finish_reason?: unknown
    readonly usage?: WireUsage | null
    readonly error?: unknown
  } | null
}

/** Tokens, and what of them is billed. Cached ones are part of the input. */
export interface WireUsage {
  readonly tokens?: Counts | null
  readonly billed_units?: Counts | null
  readonly cached_tokens?: unknown
}

interface Counts {
  readonly input_tokens?: unknown
  readonly output_tokens?: unknown
}
