/**
 * The parts of OpenAI's Responses API that a chat completion is made of, from the types of openai-node 7.57 (`resources/responses/responses.d.ts`,
 * 2026-11-13). A test compiles what is written against those types.
 */

/** A part of what a message or a tool says to the model. */
export type ContentItem =
  | { readonly type: 'input_text'; readonly text: string }
  | { readonly type: 'input_image'; readonly image_url: string; readonly detail: string }
  | { readonly type: 'input_file'; readonly filename?: string; readonly file_data?: string; readonly file_id?: string }

/** A part of what the model has said. */
export type SaidItem =
  | { readonly type: 'output_text'; readonly text: string; readonly annotations: readonly never[] }
  | { readonly type: 'refusal'; readonly refusal: string }

/** The reasoning of the model, which only its vendor can read. Without its id, nothing refers to what the vendor keeps. */
export interface ReasoningItem {
  readonly type: 'reasoning'
  readonly summary: readonly unknown[]
  readonly content?: readonly unknown[]
  readonly encrypted_content?: string
}

/** An item of a conversation. */
export type InputItem =
  | { readonly role: 'developer' | 'system' | 'user'; readonly content: string | readonly ContentItem[] }
  | { readonly type: 'message'; readonly role: 'assistant'; readonly content: readonly SaidItem[] }
  | { readonly type: 'function_call'; readonly call_id: string; readonly name: string; readonly arguments: string }
  | { readonly type: 'custom_tool_call'; readonly call_id: string; readonly name: string; readonly input: string }
  | {
      readonly type: 'function_call_output' | 'custom_tool_call_output'
      readonly call_id: string
      readonly output: string | readonly ContentItem[]
    }
  | ReasoningItem

/** A tool of a request. */
export interface ResponsesTool {
  readonly type: string
  readonly [member: string]: unknown
}

/** A request. */
export interface ResponsesRequest {
  readonly model: string
  readonly input: readonly InputItem[]
  readonly store: boolean
  readonly include: readonly string[]
  readonly [member: string]: unknown
}

/** An object of a reply, whose members are checked by the code that reads them. */
export type Members = Readonly<Record<string, unknown>>
