import { event } from '../../../core/testing/kit.ts'
import { type Dialect, type Said, USED } from './dialect.ts'

const HEAD = { id: 'msg_up9314', type: 'message', role: 'assistant', model: 'claude-sonnet-4-6', stop_sequence: null }

const INPUT = { input_tokens: USED.prompt - USED.cached, cache_read_input_tokens: USED.cached, cache_creation_input_tokens: 0 }

const OUTPUT = { output_tokens: USED.completion, output_tokens_details: { thinking_tokens: USED.reasoning } }

/** Anthropic's Messages API: the client gets a translation. */
export const anthropic: Dialect = {
  name: 'translated',
  namespace: 'claude',
  model: 'claude-sonnet-4-6',
  replyId: HEAD.id,
  apiKey: 'sk-ant-canary-9d27b3',
  path: '/v1/messages',
  whole,
  events,
  errorEvent: (message) => event({ type: 'error', error: { type: 'overloaded_error', message } }, 'error'),
  error: (status, message) => {
    const type = TYPES[status]
    // What Anthropic does not send itself comes from a proxy in front of it.
    return type === undefined ? { error: { message } } : { type: 'error', error: { type, message }, request_id: 'req_up55' }
  },
}

const TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  422: 'invalid_request_error',
  429: 'rate_limit_error',
  500: 'api_error',
  504: 'timeout_error',
  529: 'overloaded_error',
}

/** A piece of a reply: the block as it stands in a whole one, as it begins in a stream, and what then comes. */
interface Block {
  readonly whole: object
  readonly start: object
  readonly deltas: readonly object[]
}

function blocksOf({ thinking, text, tools = [] }: Said): Block[] {
  const signature = { type: 'signature_delta', signature: 'c2VhbGVk' }
  return [
    ...(thinking ? [words('thinking', thinking, [signature])] : []),
    ...(text ? [words('text', text)] : []),
    ...tools.map(({ id, name, arguments: pieces }) => ({
      whole: { type: 'tool_use', id, name, input: JSON.parse(pieces.join('')) },
      start: { type: 'tool_use', id, name, input: {} },
      deltas: ['', ...pieces].map((partial_json) => ({ type: 'input_json_delta', partial_json })),
    })),
  ]
}

const words = (type: 'thinking' | 'text', pieces: readonly string[], last: readonly object[] = []): Block => ({
  whole: { type, [type]: pieces.join(''), ...(type === 'thinking' && { signature: 'c2VhbGVk' }) },
  start: { type, [type]: '' },
  deltas: [...pieces.map((piece) => ({ type: `${type}_delta`, [type]: piece })), ...last],
})

const stopReason = ({ tools = [] }: Said): string => (tools.length > 0 ? 'tool_use' : 'end_turn')

function whole(said: Said): object {
  return {
    ...HEAD,
    content: blocksOf(said).map((block) => block.whole),
    stop_reason: stopReason(said),
    usage: { ...INPUT, ...OUTPUT },
  }
}

function events(said: Said): string[] {
  const named = ({ type, ...rest }: { readonly type: string; readonly [key: string]: unknown }) => event({ type, ...rest }, type)
  const blocks = blocksOf(said).flatMap(({ start, deltas }, index) => [
    named({ type: 'content_block_start', index, content_block: start }),
    ...deltas.map((delta) => named({ type: 'content_block_delta', index, delta })),
    named({ type: 'content_block_stop', index }),
  ])
  return [
    named({ type: 'message_start', message: { ...HEAD, content: [], stop_reason: null, usage: { ...INPUT, output_tokens: 1 } } }),
    named({ type: 'ping' }),
    ...blocks,
    named({
      type: 'message_delta',
      delta: { stop_reason: stopReason(said), stop_sequence: null },
      usage: { ...INPUT, ...OUTPUT },
    }),
    named({ type: 'message_stop' }),
  ]
}
