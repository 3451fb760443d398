import { DONE, event } from '../../../core/testing/kit.ts'
import { type Dialect, type Said, USED } from './dialect.ts'

const ID = 'chatcmpl-up7421'
const HEAD = { id: ID, created: 1_700_000_000, model: 'gpt-x-2026-02-02' }

const USAGE = {
  prompt_tokens: USED.prompt,
  completion_tokens: USED.completion,
  total_tokens: USED.total,
  prompt_tokens_details: { cached_tokens: USED.cached },
  completion_tokens_details: { reasoning_tokens: USED.reasoning },
}

/** An upstream that speaks OpenAI's chat completions: the client gets its bytes. */
export const openai: Dialect = {
  name: 'passed through',
  namespace: 'open',
  model: 'gpt-x',
  replyId: ID,
  apiKey: 'sk-open-canary-4f8a1c',
  path: '/v1/chat/completions',
  whole,
  events,
  errorEvent: (message) => event({ error: { message, type: 'server_error', param: null, code: null } }),
  error: (status, message) => ({ error: { message, type: TYPES[status] ?? 'server_error', param: null, code: null } }),
}

const TYPES: Readonly<Record<number, string>> = { 400: 'invalid_request_error', 401: 'invalid_request_error', 429: 'requests' }

/** One event of a stream. */
export const chunkOf = (delta: object, finish: string | null = null, index = 0): string =>
  event({ ...HEAD, object: 'chat.completion.chunk', choices: [{ index, delta, finish_reason: finish }] })

/** The event that tells what a stream used. */
export const USAGE_EVENT = event({ ...HEAD, object: 'chat.completion.chunk', choices: [], usage: USAGE })

function whole({ thinking = [], text, tools = [] }: Said): object {
  const calls = tools.map(({ id, name, arguments: pieces }) => ({
    id,
    type: 'function',
    function: { name, arguments: pieces.join('') },
  }))
  const message = {
    role: 'assistant',
    content: text === undefined ? null : text.join(''),
    refusal: null,
    ...(thinking.length > 0 && { reasoning_content: thinking.join('') }),
    ...(calls.length > 0 && { tool_calls: calls }),
  }
  const choice = { index: 0, message, logprobs: null, finish_reason: calls.length > 0 ? 'tool_calls' : 'stop' }
  return { ...HEAD, object: 'chat.completion', choices: [choice], usage: USAGE }
}

function events({ thinking = [], text = [], tools = [] }: Said): string[] {
  const calls = tools.flatMap(({ id, name, arguments: pieces }, index) => [
    chunkOf({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }),
    ...pieces.map((piece) => chunkOf({ tool_calls: [{ index, function: { arguments: piece } }] })),
  ])
  return [
    chunkOf({ role: 'assistant', content: '' }),
    ...thinking.map((piece) => chunkOf({ reasoning_content: piece })),
    ...text.map((piece) => chunkOf({ content: piece })),
    ...calls,
    chunkOf({}, calls.length > 0 ? 'tool_calls' : 'stop'),
    USAGE_EVENT,
    DONE,
  ]
}
