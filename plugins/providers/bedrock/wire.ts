/**
 * The Converse API on the wire, as far as this provider speaks it, from the types of @aws-sdk/client-bedrock-runtime 3.1162. Unions
 * have exactly one of their members; bytes are base64 in JSON.
 */

/** The body of `POST /model/{id}/converse` and `…/converse-stream`. */
export interface ConverseRequest {
  readonly messages: readonly Message[]
  readonly system?: readonly SystemBlock[]
  readonly inferenceConfig?: InferenceConfig
  readonly toolConfig?: ToolConfig
  readonly guardrailConfig?: { readonly guardrailIdentifier: string; readonly guardrailVersion: string }
  readonly outputConfig?: { readonly textFormat: TextFormat }
  /** What only some models take, in their own words. */
  readonly additionalModelRequestFields?: Readonly<Record<string, unknown>>
}

/** One turn. Roles alternate, and the first is the user's. */
export interface Message {
  readonly role: 'user' | 'assistant'
  readonly content: readonly Block[]
}

/** A piece of a turn. */
export type Block =
  | TextBlock
  | CachePoint
  | ImageBlock
  | DocumentBlock
  | AudioBlock
  | ToolUseBlock
  | ToolResultBlock
  | ReasoningBlock

/** A piece of the instructions. */
export type SystemBlock = TextBlock | CachePoint

/** Words; never blank, which is a 400. */
export interface TextBlock {
  readonly text: string
}

/** What stands before it is kept for later calls. */
export interface CachePoint {
  readonly cachePoint: { readonly type: 'default' }
}

/** A picture. */
export interface ImageBlock {
  readonly image: { readonly format: ImageFormat; readonly source: Bytes }
}

/** A file. Names are unique within a request: letters, digits, single blanks, hyphens, parentheses and square brackets. */
export interface DocumentBlock {
  readonly document: { readonly format: DocumentFormat; readonly name: string; readonly source: Bytes }
}

/** A sound. */
export interface AudioBlock {
  readonly audio: { readonly format: AudioFormat; readonly source: Bytes }
}

/** Base64. */
export interface Bytes {
  readonly bytes: string
}

/** What Bedrock calls the kinds of pictures. */
export type ImageFormat = 'png' | 'jpeg' | 'gif' | 'webp'
/** What Bedrock calls the kinds of documents. */
export type DocumentFormat = 'pdf' | 'csv' | 'doc' | 'docx' | 'xls' | 'xlsx' | 'html' | 'txt' | 'md'
/** What Bedrock calls the kinds of sound. */
export type AudioFormat = 'wav' | 'mp3'

/** The model's call of a tool. `toolUseId`: `^[a-zA-Z0-9_-]{1,64}$`, for Mistral nine letters and digits. */
export interface ToolUseBlock {
  readonly toolUse: {
    readonly toolUseId: string
    readonly name: string
    readonly input: Readonly<Record<string, unknown>>
  }
}

/** A tool's answer, in the user's turn right after its call. */
export interface ToolResultBlock {
  readonly toolResult: { readonly toolUseId: string; readonly content: readonly ResultContent[] }
}

/** What a tool may answer. */
export type ResultContent = TextBlock | ImageBlock | DocumentBlock | { readonly json: Readonly<Record<string, unknown>> }

/** The signature seals the reasoning: a block comes back exactly as it was, or not at all. */
export interface ReasoningBlock {
  readonly reasoningContent:
    | { readonly reasoningText: { readonly text: string; readonly signature: string } }
    | { readonly redactedContent: string }
}

/** What all models take. */
export interface InferenceConfig {
  readonly maxTokens?: number
  /** 0 to 1. */
  readonly temperature?: number
  readonly topP?: number
  readonly stopSequences?: readonly string[]
}

/** The client's tools, and which of them the model must use. */
export interface ToolConfig {
  readonly tools: readonly Tool[]
  readonly toolChoice?: ToolChoice
}

/** A tool of the client's. The schema must say `type: object`. */
export interface Tool {
  readonly toolSpec: {
    readonly name: string
    readonly description?: string
    readonly inputSchema: { readonly json: Readonly<Record<string, unknown>> }
    readonly strict?: true
  }
}

/** There is no `none`. */
export type ToolChoice =
  | { readonly auto: Readonly<Record<string, never>> }
  | { readonly any: Readonly<Record<string, never>> }
  | { readonly tool: { readonly name: string } }

/** The schema an answer follows, as a text. */
export interface TextFormat {
  readonly type: 'json_schema'
  readonly structure: {
    readonly jsonSchema: { readonly schema: string; readonly name?: string; readonly description?: string }
  }
}

// What Bedrock sends is not taken on trust: values stay unknown until the code that uses them has looked.

/** The whole reply to `converse`. */
export interface ConverseReply {
  readonly output?: { readonly message?: { readonly content?: unknown } | null } | null
  readonly stopReason?: unknown
  readonly usage?: WireUsage | null
}

/** A block of a reply. */
export interface ReplyBlock {
  readonly text?: unknown
  readonly reasoningContent?: ReplyReasoning | null
  readonly toolUse?: ReplyToolUse | null
  /** Words with their sources. */
  readonly citationsContent?: { readonly content?: unknown } | null
}

/** Reasoning in a whole reply (`reasoningText`) and in a stream (the others, piece by piece). */
export interface ReplyReasoning {
  readonly reasoningText?: { readonly text?: unknown; readonly signature?: unknown } | null
  readonly redactedContent?: unknown
  readonly text?: unknown
  readonly signature?: unknown
}

/** A call of a tool. `type: server_tool_use`: a tool that Bedrock runs itself. */
export interface ReplyToolUse {
  readonly toolUseId?: unknown
  readonly name?: unknown
  readonly type?: unknown
  /** In a whole reply an object, in a stream a piece of its JSON. */
  readonly input?: unknown
}

/** The payload of a frame: the fields of all its types. */
export interface StreamEvent {
  readonly contentBlockIndex?: number
  readonly start?: { readonly toolUse?: ReplyToolUse | null } | null
  readonly delta?: ReplyBlock | null
  readonly stopReason?: unknown
  readonly usage?: WireUsage | null
}

/** Tokens. `inputTokens` leaves out what was read from or written to the cache. */
export interface WireUsage {
  readonly inputTokens?: unknown
  readonly outputTokens?: unknown
  readonly cacheReadInputTokens?: unknown
  readonly cacheWriteInputTokens?: unknown
}
