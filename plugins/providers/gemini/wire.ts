/**
 * Google's generateContent on the wire, as far as this provider speaks it: `v1beta` of the Gemini API and `v1beta1` of Vertex AI, by
 * the types of @google/genai 3.1.
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

/** A piece of a turn. */
export type Part =
  | { readonly text: string }
  | { readonly inlineData: Blob }
  | { readonly fileData: { readonly fileUri: string; readonly mimeType?: string } }
  | { readonly functionCall: FunctionCall; readonly thoughtSignature?: string }
  | { readonly functionResponse: FunctionResponse }

/** Bytes: images, sound, documents. `data` is base64. */
export interface Blob {
  readonly mimeType: string
  readonly data: string
}

/** The model's call of a function. Vertex AI knows no ids: "Unknown name \"id\"" is its 400. */
export interface FunctionCall {
  readonly id?: string
  readonly name: string
  readonly args: Readonly<Record<string, unknown>>
}

/** What a function gave back; as many in one turn as the turn before has calls. */
export interface FunctionResponse {
  readonly id?: string
  readonly name: string
  readonly response: { readonly output: string }
}

/** The client's functions. */
export interface Tool {
  readonly functionDeclarations: readonly FunctionDeclaration[]
}

/** One function. Without parameters there is no schema; with them it is JSON Schema as it came. */
export interface FunctionDeclaration {
  readonly name: string
  readonly description?: string
  readonly parametersJsonSchema?: Readonly<Record<string, unknown>>
}

/** Whether, and which, functions are called. `VALIDATED` is `AUTO` that keeps to the schemas. */
export interface ToolConfig {
  readonly functionCallingConfig: {
    readonly mode: 'AUTO' | 'VALIDATED' | 'ANY' | 'NONE'
    /** With `ANY` only. */
    readonly allowedFunctionNames?: readonly string[]
  }
}

/** How the answer is made. */
export interface GenerationConfig {
  readonly candidateCount?: number
  /** Thoughts count. */
  readonly maxOutputTokens?: number
  readonly temperature?: number
  readonly topP?: number
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
}

/** How the model thinks: by a level or by a budget, never both. */
export interface ThinkingConfig {
  readonly includeThoughts?: boolean
  readonly thinkingLevel?: 'MINIMAL' | 'LOW' | 'MEDIUM' | 'HIGH'
  /** Tokens; 0: does not think. */
  readonly thinkingBudget?: number
}

// What Google sends is not taken on trust: values stay unknown until the code that uses them has looked.

/** A whole reply, and one event of a stream. */
export interface GenerateReply {
  readonly responseId?: unknown
  readonly candidates?: unknown
  readonly promptFeedback?: { readonly blockReason?: unknown } | null
  readonly usageMetadata?: WireUsage | null
  readonly error?: unknown
}

/** One choice, or what an event adds to it. */
export interface Candidate {
  readonly index?: unknown
  readonly content?: { readonly parts?: unknown } | null
  readonly finishReason?: unknown
  readonly logprobsResult?: unknown
}

/** A piece of a candidate. Code that Google ran, and kinds yet to come, are passed over. */
export interface ReplyPart {
  readonly text?: unknown
  readonly thought?: unknown
  readonly thoughtSignature?: unknown
  readonly functionCall?: { readonly id?: unknown; readonly name?: unknown; readonly args?: unknown } | null
  readonly inlineData?: { readonly mimeType?: unknown; readonly data?: unknown } | null
}

/** Tokens; in a stream cumulative. `promptTokenCount` includes cached ones; thoughts stand beside `candidatesTokenCount`. */
export interface WireUsage {
  readonly promptTokenCount?: unknown
  readonly toolUsePromptTokenCount?: unknown
  readonly cachedContentTokenCount?: unknown
  readonly candidatesTokenCount?: unknown
  readonly thoughtsTokenCount?: unknown
  readonly promptTokensDetails?: unknown
  readonly candidatesTokensDetails?: unknown
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
