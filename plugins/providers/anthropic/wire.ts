/**
 * Anthropic's Messages API on the wire, as far as this provider speaks it: version 2023-06-01, from the types of
 * @anthropic-ai/sdk 1.11 (`resources/messages/messages.d.ts`), against which a test compiles it.
 */

/** The body of `POST /v1/messages`. */
export interface MessagesRequest {
  readonly model: string
  readonly max_tokens: number
  readonly messages: readonly Message[]
  readonly system?: string | readonly TextBlock[]
  readonly stream?: true
  readonly temperature?: number
  readonly top_p?: number
  readonly stop_sequences?: readonly string[]
  readonly tools?: readonly Tool[]
  readonly tool_choice?: ToolChoice
  readonly thinking?: ThinkingConfig
  readonly output_config?: { readonly effort?: Effort; readonly format?: OutputFormat }
}

/** One turn. */
export interface Message {
  readonly role: 'user' | 'assistant'
  readonly content: readonly Block[]
}

/** A piece of a turn. */
export type Block = ContentBlock | ToolUseBlock | ToolResultBlock | ThinkingBlock

/** What a user, or a tool, gives to read. */
export type ContentBlock = TextBlock | ImageBlock | DocumentBlock

/** Where what a block ends is to be kept for later calls ("Prompt caching", platform.claude.com): on four blocks at most. */
export interface Cacheable {
  readonly cache_control?: { readonly type: 'ephemeral' }
}

/** Words; never blank, which is a 400. */
export interface TextBlock extends Cacheable {
  readonly type: 'text'
  readonly text: string
}

/** What Claude can look at. */
export type ImageType = 'image/jpeg' | 'image/png' | 'image/gif' | 'image/webp'

/** A picture. */
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

/** A text is given as it is. */
export type DocumentSource =
  | Source<'application/pdf'>
  | { readonly type: 'text'; readonly media_type: 'text/plain'; readonly data: string }

/** The model's call of a tool. `id`: `^[a-zA-Z0-9_-]+$`. */
export interface ToolUseBlock {
  readonly type: 'tool_use'
  readonly id: string
  readonly name: string
  readonly input: Readonly<Record<string, unknown>>
}

/** A tool's answer, in the user's turn right after its call and before any words. */
export interface ToolResultBlock extends Cacheable {
  readonly type: 'tool_result'
  readonly tool_use_id: string
  readonly content?: readonly ContentBlock[]
}

/** The signature seals the thinking: a block comes back exactly as it was, or not at all. */
export type ThinkingBlock =
  | { readonly type: 'thinking'; readonly thinking: string; readonly signature: string }
  | { readonly type: 'redacted_thinking'; readonly data: string }

/** A tool of the client's. */
export interface Tool {
  readonly name: string
  readonly description?: string
  readonly input_schema: { readonly type: 'object'; readonly [key: string]: unknown }
  readonly strict?: true
}

/** Which tools the model may or must use. */
export type ToolChoice =
  | { readonly type: 'none' }
  | { readonly type: 'auto' | 'any'; readonly disable_parallel_tool_use?: true }
  | { readonly type: 'tool'; readonly name: string; readonly disable_parallel_tool_use?: true }

/** How the model is to think; each model takes some of these (models.json). */
export type ThinkingConfig =
  | { readonly type: 'adaptive'; readonly display: 'summarized' }
  | { readonly type: 'enabled'; readonly budget_tokens: number }
  | { readonly type: 'disabled' | 'between_tools' }

/** How much the model gives itself to. */
export type Effort = 'low' | 'medium' | 'high' | 'xhigh' | 'max'

/** The schema an answer follows. */
export interface OutputFormat {
  readonly type: 'json_schema'
  readonly schema: Readonly<Record<string, unknown>>
}

// What Anthropic sends is not taken on trust: values stay unknown until the code that uses them has looked.

/** The whole reply to a call without `stream`. */
export interface MessageReply {
  readonly type?: unknown
  readonly id?: unknown
  readonly model?: unknown
  readonly content?: unknown
  readonly stop_reason?: unknown
  readonly usage?: WireUsage
}

/** A block of a reply. Server tools, citations, fallbacks and kinds yet to come have other types: they are passed over. */
export interface ReplyBlock {
  readonly type?: unknown
  readonly text?: unknown
  readonly thinking?: unknown
  readonly signature?: unknown
  readonly data?: unknown
  readonly id?: unknown
  readonly name?: unknown
  readonly input?: unknown
}

/** A piece of a block. */
export interface ReplyDelta extends ReplyBlock {
  readonly partial_json?: unknown
  /** In message_delta. */
  readonly stop_reason?: unknown
}

/** One event of a stream: the fields of all its types. */
export interface StreamEvent {
  readonly type?: unknown
  readonly index?: number
  readonly message?: MessageReply
  readonly content_block?: ReplyBlock
  readonly delta?: ReplyDelta
  readonly usage?: WireUsage
  readonly error?: WireError
}

/** Tokens. `input_tokens` leaves out what was read from or written to the cache; in a stream all of it is cumulative. */
export interface WireUsage {
  readonly input_tokens?: unknown
  readonly output_tokens?: unknown
  readonly cache_read_input_tokens?: unknown
  readonly cache_creation_input_tokens?: unknown
  readonly output_tokens_details?: { readonly thinking_tokens?: unknown } | null
}

/** The `error` of an error body and of an error event. */
export interface WireError {
  readonly type?: unknown
  readonly message?: unknown
}
