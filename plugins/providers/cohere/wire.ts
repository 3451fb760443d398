/**
 * The wire types of Cohere's Chat API, version 2, that this provider uses, from the types of cohere-ai 8.1 (`serialization`) and
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
  /** 0 to 500. */
  readonly k?: number
  readonly seed?: number
  /** 0 to 1. */
  readonly frequency_penalty?: number
  /** 0 to 1. */
  readonly presence_penalty?: number
  readonly stop_sequences?: readonly string[]
  readonly tools?: readonly Tool[]
  readonly tool_choice?: 'REQUIRED' | 'NONE'
  /** The arguments of all tools follow their schemas. */
  readonly strict_tools?: true
  readonly response_format?: { readonly type: 'json_object'; readonly json_schema?: Readonly<Record<string, unknown>> }
  readonly thinking?: { readonly type: 'enabled' | 'disabled'; readonly token_budget?: number }
}

/** One message; an empty one is a 400. */
export type Message =
  | { readonly role: 'system'; readonly content: string }
  | { readonly role: 'user'; readonly content: string | readonly UserContent[] }
  | AssistantMessage
  | { readonly role: 'tool'; readonly tool_call_id: string; readonly content: string | readonly TextContent[] }

/** An earlier answer of the model: a text, or calls of tools with the plan or the thinking that led to them. */
export interface AssistantMessage {
  readonly role: 'assistant'
  readonly content?: string | readonly ThinkingContent[]
  readonly tool_plan?: string
  readonly tool_calls?: readonly WireToolCall[]
}

/** A part of a user's message. */
export type UserContent = TextContent | ImageContent

/** A text. */
export interface TextContent {
  readonly type: 'text'
  readonly text: string
}

/** An image: an address that Cohere fetches, or a data URL. */
export interface ImageContent {
  readonly type: 'image_url'
  readonly image_url: { readonly url: string; readonly detail?: 'auto' | 'low' | 'high' }
}

/** The thinking of a reasoning model. */
export interface ThinkingContent {
  readonly type: 'thinking'
  readonly thinking: string
}

/** A call of a tool. Ids are unique within a conversation. */
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

// Replies are not trusted: members are unknown until the code that uses them has checked them.

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
  readonly citations?: unknown
}

/** A part of a reply's content, whole or a delta. */
export interface ReplyContent {
  readonly type?: unknown
  readonly text?: unknown
  readonly thinking?: unknown
}

/** A call of a tool in a reply, whole or a delta. */
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
      /** In citation-start: one. */
      readonly citations?: unknown
    } | null
    /** In message-end. */
    readonly finish_reason?: unknown
    readonly usage?: WireUsage | null
    readonly error?: unknown
  } | null
}

/** Numbers of tokens, and of billed ones. The input includes cached tokens. */
export interface WireUsage {
  readonly tokens?: Counts | null
  readonly billed_units?: Counts | null
  readonly cached_tokens?: unknown
}

interface Counts {
  readonly input_tokens?: unknown
  readonly output_tokens?: unknown
}
