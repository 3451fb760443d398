/**
 * The wire types of Anthropic's Messages API that this provider uses: version 2023-06-01, from the types of @anthropic-ai/sdk 1.11
 * (`resources/messages/messages.d.ts`), against which a test compiles them.
 */
import type { MessagesUsage } from 'unified-model-gateway/plugin'

/** The body of `POST /v1/messages`. */
export interface MessagesRequest {
  readonly model: string
  readonly max_tokens: number
  readonly messages: readonly Message[]
  readonly system?: string | readonly TextBlock[]
  readonly stream?: true
  readonly temperature?: number
  readonly top_p?: number
  readonly top_k?: number
  readonly metadata?: { readonly user_id: string }
  readonly service_tier?: 'standard_only'
  readonly stop_sequences?: readonly string[]
  readonly tools?: readonly (Tool | WebSearchTool)[]
  readonly tool_choice?: ToolChoice
  /** Of the last block. */
  readonly cache_control?: CacheMark
  readonly thinking?: ThinkingConfig
  readonly output_config?: { readonly effort?: Effort; readonly format?: OutputFormat }
}

/** One turn. */
export interface Message {
  readonly role: 'user' | 'assistant'
  readonly content: readonly Block[]
}

/** A part of a turn. */
export type Block = ContentBlock | ToolUseBlock | ToolResultBlock | ThinkingBlock

/** The content of a user's message or of a tool result. */
export type ContentBlock = TextBlock | ImageBlock | DocumentBlock

/** Marks the end of a prefix to cache ("Prompt caching", platform.claude.com); four blocks at most. */
export interface Cacheable {
  readonly cache_control?: CacheMark
}

/** How long the prefix is kept; five minutes if it does not say. */
export interface CacheMark {
  readonly type: 'ephemeral'
  readonly ttl?: '5m' | '1h'
}

/** A text; a blank one is a 400. */
export interface TextBlock extends Cacheable {
  readonly type: 'text'
  readonly text: string
}

/** The types of images that Claude reads. */
export type ImageType = 'image/jpeg' | 'image/png' | 'image/gif' | 'image/webp'

/** An image. */
export interface ImageBlock extends Cacheable {
  readonly type: 'image'
  readonly source: Source<ImageType>
}

/** A PDF, or a plain text. */
export interface DocumentBlock extends Cacheable {
  readonly type: 'document'
  readonly source: DocumentSource
  readonly title?: string
}

/** Base64 bytes, or an address that Anthropic fetches. */
export type Source<Type> =
  | { readonly type: 'base64'; readonly media_type: Type; readonly data: string }
  | { readonly type: 'url'; readonly url: string }

/** A PDF, or a text as it is. */
export type DocumentSource =
  | Source<'application/pdf'>
  | { readonly type: 'text'; readonly media_type: 'text/plain'; readonly data: string }

/** The model's call of a tool. `id`: `^[a-zA-Z0-9_-]+$`. */
export interface ToolUseBlock extends Cacheable {
  readonly type: 'tool_use'
  readonly id: string
  readonly name: string
  readonly input: Readonly<Record<string, unknown>>
}

/** A tool's result, in the user's turn after its call and before any text. */
export interface ToolResultBlock extends Cacheable {
  readonly type: 'tool_result'
  readonly tool_use_id: string
  readonly content?: readonly ContentBlock[]
}

/** Signed thinking: a block must come back unchanged, or not at all. */
export type ThinkingBlock =
  | { readonly type: 'thinking'; readonly thinking: string; readonly signature: string }
  | { readonly type: 'redacted_thinking'; readonly data: string }

/** A tool of the client's. */
export interface Tool extends Cacheable {
  readonly name: string
  readonly description?: string
  readonly input_schema: { readonly type: 'object'; readonly [key: string]: unknown }
  readonly strict?: true
}

/** Anthropic's search of the web, which it runs itself ("Web search tool", platform.claude.com; read 2026-11-26). */
export interface WebSearchTool {
  readonly type: 'web_search_20250305'
  readonly name: 'web_search'
  readonly user_location?: { readonly type: 'approximate'; readonly [place: string]: string }
}

/** The tools that the model may or must use. */
export type ToolChoice =
  | { readonly type: 'none' }
  | { readonly type: 'auto' | 'any'; readonly disable_parallel_tool_use?: true }
  | { readonly type: 'tool'; readonly name: string; readonly disable_parallel_tool_use?: true }

/** How the model thinks; each model takes some of these (models.json). */
export type ThinkingConfig =
  | { readonly type: 'adaptive'; readonly display: 'summarized' }
  | { readonly type: 'enabled'; readonly budget_tokens: number }
  | { readonly type: 'disabled' | 'between_tools' }

/** How much effort the model spends. */
export type Effort = 'low' | 'medium' | 'high' | 'xhigh' | 'max'

/** The schema of an answer. */
export interface OutputFormat {
  readonly type: 'json_schema'
  readonly schema: Readonly<Record<string, unknown>>
}

// Replies are not trusted: members are unknown until the code that uses them has checked them.

/** The whole reply to a call without `stream`. */
export interface MessageReply {
  readonly type?: unknown
  readonly id?: unknown
  readonly model?: unknown
  readonly content?: unknown
  readonly stop_reason?: unknown
  readonly stop_details?: unknown
  readonly usage?: MessagesUsage
}

/** A block of a reply. Blocks of other types, such as searches and what they have found, are ignored. */
export interface ReplyBlock {
  readonly type?: unknown
  readonly text?: unknown
  readonly thinking?: unknown
  readonly signature?: unknown
  readonly data?: unknown
  readonly id?: unknown
  readonly name?: unknown
  readonly input?: unknown
  /** Of a text: its sources. */
  readonly citations?: unknown
}

/** A delta of a block. */
export interface ReplyDelta extends ReplyBlock {
  readonly partial_json?: unknown
  readonly citation?: unknown
  /** In message_delta. */
  readonly stop_reason?: unknown
  readonly stop_details?: unknown
}

/** One event of a stream: the fields of all its types. */
export interface StreamEvent {
  readonly type?: unknown
  readonly index?: number
  readonly message?: MessageReply
  readonly content_block?: ReplyBlock
  readonly delta?: ReplyDelta
  readonly usage?: MessagesUsage
  readonly error?: WireError
}

/** The `error` of an error body and of an error event. */
export interface WireError {
  readonly type?: unknown
  readonly message?: unknown
}
