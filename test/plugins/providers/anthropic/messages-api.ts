import { event } from 'unified-model-gateway/plugin/testing'

/** A block of a reply, whole and as the events of its stream. */
export interface Block {
  readonly whole: object
  readonly start: object
  readonly deltas: readonly object[]
}

/** The members of a reply that differ from the default. */
export interface ReplyOptions {
  readonly stop_reason?: string
  readonly usage?: object
}

const HEAD = { id: 'msg_01', type: 'message', role: 'assistant', model: 'claude-haiku-4-5-20251001', stop_sequence: null }
const USAGE = { input_tokens: 12, cache_read_input_tokens: 0, cache_creation_input_tokens: 0, output_tokens: 7 }

/** Words. */
export const text = (...pieces: readonly string[]): Block => ({
  whole: { type: 'text', text: pieces.join('') },
  start: { type: 'text', text: '' },
  deltas: pieces.map((piece) => ({ type: 'text_delta', text: piece })),
})

/** A tool call; without pieces, it has no arguments. */
export const tool = (id: string, name: string, ...pieces: readonly string[]): Block => ({
  whole: { type: 'tool_use', id, name, input: JSON.parse(pieces.join('') || '{}') },
  start: { type: 'tool_use', id, name, input: {} },
  deltas: ['', ...pieces].map((partial_json) => ({ type: 'input_json_delta', partial_json })),
})

/** Signed thinking. */
export const thinking = (signature: string, ...pieces: readonly string[]): Block => ({
  whole: { type: 'thinking', thinking: pieces.join(''), signature },
  start: { type: 'thinking', thinking: '', signature: '' },
  deltas: [...pieces.map((piece) => ({ type: 'thinking_delta', thinking: piece })), { type: 'signature_delta', signature }],
})

/** Redacted thinking. */
export const redacted = (data: string): Block => {
  const whole = { type: 'redacted_thinking', data }
  return { whole, start: whole, deltas: [] }
}

/** An event, with its name. */
export const named = (data: { readonly type: string; readonly [key: string]: unknown }): string => event(data, data.type)

/** A message of the Messages API, whole and as its events. */
export function message(blocks: readonly Block[], { stop_reason = 'end_turn', usage = USAGE }: ReplyOptions = {}) {
  return {
    whole: { ...HEAD, content: blocks.map((block) => block.whole), stop_reason, usage },
    stream: [
      named({
        type: 'message_start',
        message: { ...HEAD, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } },
      }),
      named({ type: 'ping' }),
      ...blocks.flatMap(({ start, deltas }, index) => [
        named({ type: 'content_block_start', index, content_block: start }),
        ...deltas.map((delta) => named({ type: 'content_block_delta', index, delta })),
        named({ type: 'content_block_stop', index }),
      ]),
      named({ type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage }),
      named({ type: 'message_stop' }),
    ],
  }
}

/** An error reply of Anthropic. */
export const failure = (status: number, type: string, words: string) => ({
  status,
  body: { type: 'error', error: { type, message: words }, request_id: 'req_up' },
})
