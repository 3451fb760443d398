/**
 * The wire types of the Converse API that this provider uses, from the types of @aws-sdk/client-bedrock-runtime 3.1162. Unions have
 * exactly one of their members; bytes are base64 in JSON.
 */

/** The body of `POST /model/{id}/converse` and `…/converse-stream`. */
export interface ConverseRequest {
  readonly messages: readonly Message[]
  readonly system?: readonly SystemBlock[]
  readonly inferenceConfig?: InferenceConfig
  readonly toolConfig?: ToolConfig
  readonly guardrailConfig?: { readonly guardrailIdentifier: string; readonly guardrailVersion: string }
  readonly outputConfig?: { readonly textFormat: TextFormat }
  readonly requestMetadata?: Readonly<Record<string, string>>
  /** One that the model does not have is a 400 (github.com/envoyproxy/ai-gateway, pull request 1749; 2026-01-09). */
  readonly serviceTier?: ServiceTier
  /** Parameters of single models. */
  readonly additionalModelRequestFields?: Readonly<Record<string, unknown>>
}

/** How urgently a request is served, and at which price. */
export interface ServiceTier {
  readonly type: 'priority' | 'flex'
}

/** One turn. Roles alternate, beginning with the user. */
export interface Message {
  readonly role: 'user' | 'assistant'
  readonly content: readonly Block[]
}

/** A part of a turn. */
export type Block =
  | TextBlock
  | CachePoint
  | ImageBlock
  | DocumentBlock
  | AudioBlock
  | ToolUseBlock
  | ToolResultBlock
  | ReasoningBlock

/** A part of the instructions. */
export type SystemBlock = TextBlock | CachePoint

/** A text; a blank one is a 400. */
export interface TextBlock {
  readonly text: string
}

/** The end of a prefix to cache. */
export interface CachePoint {
  readonly cachePoint: { readonly type: 'default'; readonly ttl?: '5m' | '1h' }
}

/** An image. */
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

/** Bedrock's names of image formats. */
export type ImageFormat = 'png' | 'jpeg' | 'gif' | 'webp'
/** Bedrock's names of document formats. */
export type DocumentFormat = 'pdf' | 'csv' | 'doc' | 'docx' | 'xls' | 'xlsx' | 'html' | 'txt' | 'md'
/** Bedrock's names of sound formats. */
export type AudioFormat = 'wav' | 'mp3'

/** The model's call of a tool. `toolUseId`: `^[a-zA-Z0-9_-]{1,64}$`, for Mistral nine letters and digits. */
export interface ToolUseBlock {
  readonly toolUse: {
    readonly toolUseId: string
    readonly name: string
    readonly input: Readonly<Record<string, unknown>>
  }
}

/** A tool's result, in the user's turn after its call. */
export interface ToolResultBlock {
  readonly toolResult: { readonly toolUseId: string; readonly content: readonly ResultContent[] }
}

/** The content of a tool's result. */
export type ResultContent = TextBlock | ImageBlock | DocumentBlock | { readonly json: Readonly<Record<string, unknown>> }

/** Signed reasoning: a block must come back unchanged, or not at all. */
export interface ReasoningBlock {
  readonly reasoningContent:
    | { readonly reasoningText: { readonly text: string; readonly signature: string } }
    | { readonly redactedContent: string }
}

/** Parameters of all models. */
export interface InferenceConfig {
  readonly maxTokens?: number
  /** 0 to 1. */
  readonly temperature?: number
  readonly topP?: number
  readonly stopSequences?: readonly string[]
}

/** The client's tools, and their choice. */
export interface ToolConfig {
  /** A cache point follows the last tool of its prefix. */
  readonly tools: readonly (Tool | CachePoint)[]
  readonly toolChoice?: ToolChoice
}

/** A tool of the client's. Its schema must have `type: object`. */
export interface Tool {
  readonly toolSpec: {
    readonly name: string
    readonly description?: string
    readonly inputSchema: { readonly json: Readonly<Record<string, unknown>> }
    readonly strict?: true
  }
}

/** The choice of tools; there is no `none`. */
export type ToolChoice =
  | { readonly auto: Readonly<Record<string, never>> }
  | { readonly any: Readonly<Record<string, never>> }
  | { readonly tool: { readonly name: string } }

/** The schema of an answer, as a text. */
export interface TextFormat {
  readonly type: 'json_schema'
  readonly structure: {
    readonly jsonSchema: { readonly schema: string; readonly name?: string; readonly description?: string }
  }
}

// Replies are not trusted: members are unknown until the code that uses them has checked them.

/** The whole reply to `converse`. */
export interface ConverseReply {
  readonly output?: { readonly message?: { readonly content?: unknown } | null } | null
  readonly stopReason?: unknown
  readonly usage?: WireUsage | null
  readonly serviceTier?: { readonly type?: unknown } | null
}

/** A block of a reply. */
export interface ReplyBlock {
  readonly text?: unknown
  readonly reasoningContent?: ReplyReasoning | null
  readonly toolUse?: ReplyToolUse | null
  /** A text with its sources. */
  readonly citationsContent?: { readonly content?: unknown } | null
}

/** Reasoning in a whole reply (`reasoningText`) and in a stream (the others, in pieces). */
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
  readonly serviceTier?: { readonly type?: unknown } | null
}

/** Numbers of tokens. `inputTokens` excludes those read from or written to the cache. */
export interface WireUsage {
  readonly inputTokens?: unknown
  readonly outputTokens?: unknown
  readonly cacheReadInputTokens?: unknown
  readonly cacheWriteInputTokens?: unknown
  /** The written tokens by lifetime: `{ ttl: '1h', inputTokens: 100 }`. */
  readonly cacheDetails?: readonly { readonly ttl?: unknown; readonly inputTokens?: unknown }[] | null
}
