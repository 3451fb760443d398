/**
 * The wire types of Ollama's own API that this provider uses, from `api/types.go` and `server/routes.go` of github.com/ollama/ollama
 * (fb30760, August 2026).
 */

/** The body of `POST /api/chat`. */
export interface ChatBody {
  readonly model: string
  readonly messages: readonly Message[]
  /** If absent, Ollama streams. */
  readonly stream: boolean
  readonly tools?: readonly Tool[]
  readonly format?: 'json' | Readonly<Record<string, unknown>>
  readonly think?: Think
  readonly logprobs?: true
  readonly top_logprobs?: number
  readonly options?: Readonly<Record<string, unknown>>
  readonly keep_alive?: string | number
}

/** One message. */
export interface Message {
  readonly role: 'system' | 'user' | 'assistant' | 'tool'
  readonly content: string
  /** Base64; also sound, for models that take it. */
  readonly images?: readonly string[]
  readonly thinking?: string
  readonly tool_calls?: readonly ToolCall[]
  /** Of role `tool`: the name of the called tool, and the id of the call. */
  readonly tool_name?: string
  readonly tool_call_id?: string
}

/** The model's call of a tool. */
export interface ToolCall {
  readonly id?: string
  readonly function: { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> }
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

/** Whether to think, or how much. Models without thinking answer 400 to anything but false. */
export type Think = false | 'low' | 'medium' | 'high' | 'max'

// Replies are not trusted: members are unknown until the code that uses them has checked them.

/** A whole reply, or one line of a stream: the last has `done` and the usage. */
export interface ChatReply {
  readonly message?: unknown
  readonly done?: unknown
  readonly done_reason?: unknown
  readonly prompt_eval_count?: unknown
  readonly eval_count?: unknown
  readonly logprobs?: unknown
  readonly error?: unknown
}
