/**
 * The parts of Anthropic's Messages API that are translated: version 2023-06-01, from the types of @anthropic-ai/sdk 1.11
 * (`resources/messages/messages.d.ts`), against which a test compiles those that are written.
 */

/** A block of a request. Its members are checked by the code that reads them. */
export interface Block {
  readonly type: string
  readonly cache_control?: unknown
  readonly [member: string]: unknown
}

/** One turn of a request. */
export interface MessageParam {
  readonly role: string
  readonly content: string | readonly Block[]
}

/** Why a message ended, as far as chat completions say. */
export type StopReason = 'end_turn' | 'max_tokens' | 'stop_sequence' | 'tool_use' | 'refusal'

/** A block of a reply. */
export type ReplyBlock =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking'; readonly thinking: string; readonly signature: string }
  | { readonly type: 'redacted_thinking'; readonly data: string }
  | {
      readonly type: 'tool_use'
      readonly id: string
      readonly name: string
      readonly input: unknown
      readonly caller: { readonly type: 'direct' }
    }

/** A piece of a block. */
export type BlockDelta =
  | { readonly type: 'text_delta'; readonly text: string }
  | { readonly type: 'thinking_delta'; readonly thinking: string }
  | { readonly type: 'signature_delta'; readonly signature: string }
  | { readonly type: 'input_json_delta'; readonly partial_json: string }

/** The tokens that `message_delta` reports: all of the message. */
export interface DeltaUsage {
  readonly input_tokens: number
  readonly cache_creation_input_tokens: number
  readonly cache_read_input_tokens: number
  readonly output_tokens: number
  readonly output_tokens_details: { readonly thinking_tokens: number } | null
  readonly server_tool_use: null
}

/** The tokens of a whole message. */
export interface WholeUsage extends DeltaUsage {
  readonly cache_creation: {
    readonly ephemeral_1h_input_tokens: number
    readonly ephemeral_5m_input_tokens: number
  } | null
  readonly inference_geo: null
  readonly service_tier: null
  readonly speed: null
}

/** A whole reply. */
export interface Message {
  readonly id: string
  readonly type: 'message'
  readonly role: 'assistant'
  readonly model: string
  readonly content: ReplyBlock[]
  readonly stop_reason: StopReason | null
  readonly stop_sequence: string | null
  readonly stop_details: null
  readonly container: null
  readonly diagnostics: null
  readonly usage: WholeUsage
  /** What of the upstream has no place in a message: a member of the gateway's, as in chat completions. */
  readonly extra_content?: unknown
}

/** An event of a stream. */
export type StreamEvent =
  | { readonly type: 'message_start'; readonly message: Message }
  | { readonly type: 'content_block_start'; readonly index: number; readonly content_block: ReplyBlock }
  | { readonly type: 'content_block_delta'; readonly index: number; readonly delta: BlockDelta }
  | { readonly type: 'content_block_stop'; readonly index: number }
  | {
      readonly type: 'message_delta'
      readonly delta: {
        readonly stop_reason: StopReason
        readonly stop_sequence: string | null
        readonly stop_details: null
        readonly container: null
      }
      readonly usage: DeltaUsage
      /** As in a whole message. */
      readonly extra_content?: unknown
    }
  | { readonly type: 'message_stop' }
