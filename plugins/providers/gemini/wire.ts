/**
 * The wire types of Google's generateContent that this provider uses: `v1beta` of the Gemini API and `v1beta1` of Vertex AI, from the
 * types of @google/genai 3.1.
 */

/** The body of `models/{model}:generateContent` and `:streamGenerateContent`. */
export interface GenerateRequest {
  readonly contents: readonly Content[]
  readonly systemInstruction?: Content
  readonly tools?: readonly Tool[]
  readonly toolConfig?: ToolConfig
  readonly generationConfig?: GenerationConfig
}

/** One turn. An instruction has no role. */
export interface Content {
  readonly role?: 'user' | 'model'
  readonly parts: readonly Part[]
}

/** A part of a turn. */
export type Part =
  | { readonly text: string }
  | { readonly inlineData: Blob }
  | { readonly fileData: { readonly fileUri: string; readonly mimeType?: string } }
  | { readonly functionCall: FunctionCall; readonly thoughtSignature?: string }
  | { readonly functionResponse: FunctionResponse }

/** An image, a sound or a document. `data` is base64. */
export interface Blob {
  readonly mimeType: string
  readonly data: string
}

/** The model's call of a function. Vertex AI takes no ids: it answers 400 "Unknown name \"id\"". */
export interface FunctionCall {
  readonly id?: string
  readonly name: string
  readonly args: Readonly<Record<string, unknown>>
}

/** A function's result; a turn has as many as the turn before has calls. */
export interface FunctionResponse {
  readonly id?: string
  readonly name: string
  readonly response: { readonly output: string }
}

/** The client's functions, or Google's own search of the web. */
export type Tool =
  | { readonly functionDeclarations: readonly FunctionDeclaration[] }
  | { readonly googleSearch: Readonly<Record<string, never>> }

/** One function. A function without parameters has no schema; any other has the client's JSON Schema. */
export interface FunctionDeclaration {
  readonly name: string
  readonly description?: string
  readonly parametersJsonSchema?: Readonly<Record<string, unknown>>
}

/** Whether functions are called, and which. `VALIDATED` is `AUTO` with enforced schemas. */
export interface ToolConfig {
  readonly functionCallingConfig: {
    readonly mode: 'AUTO' | 'VALIDATED' | 'ANY' | 'NONE'
    /** With `ANY` only. */
    readonly allowedFunctionNames?: readonly string[]
  }
}

/** The settings of the generation. */
export interface GenerationConfig {
  readonly candidateCount?: number
  /** Includes thoughts. */
  readonly maxOutputTokens?: number
  readonly temperature?: number
  readonly topP?: number
  readonly topK?: number
  readonly stopSequences?: readonly string[]
  /** 32 bits. */
  readonly seed?: number
  readonly frequencyPenalty?: number
  readonly presencePenalty?: number
  readonly responseLogprobs?: boolean
  readonly logprobs?: number
  readonly responseMimeType?: 'application/json'
  readonly responseJsonSchema?: Readonly<Record<string, unknown>>
  readonly thinkingConfig?: ThinkingConfig
  readonly responseModalities?: readonly Modality[]
}

/** What a model answers with. */
export type Modality = 'TEXT' | 'IMAGE'

/** How the model thinks: a level or a budget, never both. */
export interface ThinkingConfig {
  readonly includeThoughts?: boolean
  readonly thinkingLevel?: 'MINIMAL' | 'LOW' | 'MEDIUM' | 'HIGH'
  /** Tokens; 0: no thinking. */
  readonly thinkingBudget?: number
}

// Replies are not trusted: members are unknown until the code that uses them has checked them.

/** A whole reply, and one event of a stream. */
export interface GenerateReply {
  readonly responseId?: unknown
  readonly candidates?: unknown
  readonly promptFeedback?: { readonly blockReason?: unknown } | null
  readonly usageMetadata?: WireUsage | null
  readonly error?: unknown
}

/** One choice, or an event's part of it. */
export interface Candidate {
  readonly index?: unknown
  readonly content?: { readonly parts?: unknown } | null
  readonly finishReason?: unknown
  readonly logprobsResult?: unknown
  /** What a search has found, and which pieces of the answer it supports: in a stream with the last ones. */
  readonly groundingMetadata?: { readonly groundingChunks?: unknown; readonly groundingSupports?: unknown } | null
}

/** A part of a candidate. Parts of other kinds, such as code that Google ran, are ignored. */
export interface ReplyPart {
  readonly text?: unknown
  readonly thought?: unknown
  readonly thoughtSignature?: unknown
  readonly functionCall?: { readonly id?: unknown; readonly name?: unknown; readonly args?: unknown } | null
  readonly inlineData?: { readonly mimeType?: unknown; readonly data?: unknown } | null
}

/** Numbers of tokens; in a stream cumulative. `promptTokenCount` includes cached tokens; `candidatesTokenCount` excludes thoughts. */
export interface WireUsage {
  readonly promptTokenCount?: unknown
  readonly toolUsePromptTokenCount?: unknown
  readonly cachedContentTokenCount?: unknown
  readonly candidatesTokenCount?: unknown
  readonly thoughtsTokenCount?: unknown
  readonly promptTokensDetails?: unknown
  readonly cacheTokensDetails?: unknown
  readonly candidatesTokensDetails?: unknown
  /** Of the Gemini API: `standard`, `flex`, `priority`. */
  readonly serviceTier?: unknown
  /** Of Vertex AI: `ON_DEMAND`, `ON_DEMAND_FLEX`, `ON_DEMAND_PRIORITY`, `PROVISIONED_THROUGHPUT`. */
  readonly trafficType?: unknown
}

/** A `google.rpc.Status`, the `error` of error bodies and events. */
export interface WireError {
  /** The HTTP status. */
  readonly code?: unknown
  /** The canonical code: `INVALID_ARGUMENT`. */
  readonly status?: unknown
  readonly message?: unknown
  readonly details?: unknown
}
