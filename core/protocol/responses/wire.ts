/**
 * The parts of OpenAI's Responses API that are translated, from the types of openai-node 7.55 (`resources/responses/responses.d.ts`), against
 * which a test compiles those that are written.
 */

/** An item or a part of a request. Its members are checked by the code that reads them. */
export type Members = Readonly<Record<string, unknown>>

/** How far an item is. */
export type ItemStatus = 'in_progress' | 'completed' | 'incomplete'

/** A source of a text. */
export interface UrlCitation {
  readonly type: 'url_citation'
  readonly start_index: number
  readonly end_index: number
  readonly title: string
  readonly url: string
}

/** A token of a text, and its log probability. */
export interface Logprob {
  readonly token: string
  readonly bytes: number[]
  readonly logprob: number
  readonly top_logprobs: { readonly token: string; readonly bytes: number[]; readonly logprob: number }[]
}

/** A part of a message. */
export type MessagePart =
  | {
      readonly type: 'output_text'
      readonly text: string
      readonly annotations: UrlCitation[]
      readonly logprobs: Logprob[]
    }
  | { readonly type: 'refusal'; readonly refusal: string }

/** A part of the summary of reasoning. */
export interface SummaryPart {
  readonly type: 'summary_text'
  readonly text: string
}

/** The types of pictures in a response. */
export type PictureFormat = 'png' | 'jpeg' | 'webp' | 'gif'

/** An item of a reply. */
export type OutputItem =
  | {
      readonly id: string
      readonly type: 'image_generation_call'
      readonly status: 'in_progress' | 'completed'
      readonly output_format: PictureFormat | null
      /** Base64. */
      readonly result: string | null
    }
  | {
      readonly id: string
      readonly type: 'message'
      readonly status: ItemStatus
      readonly role: 'assistant'
      readonly content: MessagePart[]
    }
  | {
      readonly id: string
      readonly type: 'compaction'
      readonly encrypted_content: string
    }
  | {
      readonly id: string
      readonly type: 'reasoning'
      readonly status: ItemStatus
      readonly summary: SummaryPart[]
      readonly encrypted_content: string
    }
  | {
      readonly id: string
      readonly type: 'function_call'
      readonly status: ItemStatus
      readonly call_id: string
      readonly name: string
      readonly namespace?: string
      readonly arguments: string
    }
  | {
      readonly id: string
      readonly type: 'custom_tool_call'
      readonly call_id: string
      readonly name: string
      readonly namespace?: string
      readonly input: string
    }
  | {
      readonly id: string
      readonly type: 'tool_search_call'
      readonly status: ItemStatus
      readonly call_id: string
      readonly execution: 'client'
      readonly arguments: Members
    }
  | {
      readonly id: string
      readonly type: 'local_shell_call'
      readonly status: ItemStatus
      readonly call_id: string
      readonly action: {
        readonly type: 'exec'
        readonly command: string[]
        readonly env: Readonly<Record<string, string>>
        readonly timeout_ms: number | null
        readonly working_directory: string | null
      }
    }
  | {
      readonly id: string
      readonly type: 'shell_call'
      readonly status: ItemStatus
      readonly call_id: string
      readonly action: {
        readonly commands: string[]
        readonly timeout_ms: number | null
        readonly max_output_length: number | null
      }
      readonly environment: { readonly type: 'local' }
    }
  | {
      readonly id: string
      readonly type: 'apply_patch_call'
      readonly status: 'in_progress' | 'completed'
      readonly call_id: string
      readonly operation: PatchOperation
    }

/** A change of a file. */
export type PatchOperation =
  | { readonly type: 'create_file' | 'update_file'; readonly path: string; readonly diff: string }
  | { readonly type: 'delete_file'; readonly path: string }

/** A message of the user, in the reply that compacts its conversation. */
export interface UserMessage {
  readonly id: string
  readonly type: 'message'
  readonly status: 'completed'
  readonly role: 'user'
  readonly content: readonly unknown[]
}

/** The tokens of a reply. */
export interface ResponseUsage {
  readonly input_tokens: number
  readonly input_tokens_details: { readonly cached_tokens: number; readonly cache_write_tokens: number }
  readonly output_tokens: number
  readonly output_tokens_details: { readonly reasoning_tokens: number }
  readonly total_tokens: number
}

/** The members of a request that its reply repeats. */
export interface Echo {
  readonly instructions: unknown
  readonly max_output_tokens: unknown
  readonly max_tool_calls: unknown
  readonly metadata: unknown
  readonly parallel_tool_calls: unknown
  readonly prompt_cache_key: unknown
  readonly reasoning: unknown
  readonly safety_identifier: unknown
  readonly temperature: unknown
  readonly text: unknown
  readonly tool_choice: unknown
  readonly tools: unknown
  readonly top_logprobs: unknown
  readonly top_p: unknown
  readonly truncation: unknown
  readonly user: unknown
}

/** A reply. */
export interface OwnResponse {
  readonly id: string
  readonly object: 'response'
  readonly created_at: number
  readonly status: 'queued' | 'in_progress' | 'completed' | 'incomplete'
  readonly completed_at: number | null
  readonly access_programs: null
  readonly background: boolean
  readonly conversation: { readonly id: string } | null
  readonly error: null
  readonly incomplete_details: { readonly reason: 'max_output_tokens' | 'content_filter' } | null
  readonly model: string
  readonly output: OutputItem[]
  readonly previous_response_id: string | null
  /** Whether the reply can be fetched later, or referred to. */
  readonly store: boolean
  readonly usage?: ResponseUsage
  /** What of the upstream has no place in a response: a member of the gateway's, as in chat completions. */
  readonly extra_content?: unknown
}

/** A reply that compacts a conversation. */
export interface CompactedResponse {
  readonly id: string
  readonly object: 'response.compaction'
  readonly created_at: number
  readonly output: readonly (UserMessage | OutputItem)[]
  readonly usage: ResponseUsage
}

/** A reply with what it repeats of its request. */
export type Response = OwnResponse & Echo

/** Where a part of a text stands. */
interface PartPlace {
  readonly item_id: string
  readonly output_index: number
  readonly content_index: number
}

interface ItemPlace {
  readonly item_id: string
  readonly output_index: number
}

interface SummaryPlace extends ItemPlace {
  readonly summary_index: number
}

/** An event of a stream, without its number. */
export type EventBody =
  | { readonly type: 'response.created' | 'response.queued' | 'response.in_progress'; readonly response: Response }
  | { readonly type: 'response.completed' | 'response.incomplete'; readonly response: Response }
  | {
      readonly type: 'response.output_item.added' | 'response.output_item.done'
      readonly output_index: number
      readonly item: OutputItem
    }
  | (PartPlace & { readonly type: 'response.content_part.added' | 'response.content_part.done'; readonly part: MessagePart })
  | (PartPlace & { readonly type: 'response.output_text.delta'; readonly delta: string; readonly logprobs: Logprob[] })
  | (PartPlace & { readonly type: 'response.output_text.done'; readonly text: string; readonly logprobs: Logprob[] })
  | (PartPlace & {
      readonly type: 'response.output_text.annotation.added'
      readonly annotation_index: number
      readonly annotation: UrlCitation
    })
  | (PartPlace & { readonly type: 'response.refusal.delta'; readonly delta: string })
  | (PartPlace & { readonly type: 'response.refusal.done'; readonly refusal: string })
  | (SummaryPlace & {
      readonly type: 'response.reasoning_summary_part.added' | 'response.reasoning_summary_part.done'
      readonly part: SummaryPart
    })
  | (SummaryPlace & { readonly type: 'response.reasoning_summary_text.delta'; readonly delta: string })
  | (SummaryPlace & { readonly type: 'response.reasoning_summary_text.done'; readonly text: string })
  | (ItemPlace & { readonly type: 'response.function_call_arguments.delta'; readonly delta: string })
  | (ItemPlace & { readonly type: 'response.function_call_arguments.done'; readonly name: string; readonly arguments: string })
  | (ItemPlace & { readonly type: 'response.image_generation_call.completed' })
  | (ItemPlace & { readonly type: 'response.compaction.compacting' })
  | (ItemPlace & { readonly type: 'response.custom_tool_call_input.delta'; readonly delta: string })
  | (ItemPlace & { readonly type: 'response.custom_tool_call_input.done'; readonly input: string })

/** The event that ends a broken stream. */
export interface ErrorEvent {
  readonly type: 'error'
  /** On a socket: of the reply by HTTP that would have this error in place of a stream. */
  readonly status?: number
  readonly sequence_number: number
  readonly code: string | null
  readonly message: string
  readonly param: string | null
  readonly error: object
}

/** An event of a stream. */
export type StreamEvent = (EventBody & { readonly sequence_number: number }) | ErrorEvent

/** One event as a frame. */
export const frameOf = (event: StreamEvent): string => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
