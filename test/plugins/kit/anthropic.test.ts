import { Secret } from 'unified-model-gateway/plugin'
import { describeProvider, event } from 'unified-model-gateway/plugin/testing'
import anthropic from '../../../plugins/providers/anthropic/index.ts'

interface Block {
  readonly whole: object
  readonly start: object
  readonly deltas: readonly object[]
}

const HEAD = { id: 'msg_01', type: 'message', role: 'assistant', model: 'claude-haiku-4-5-20251001', stop_sequence: null }
const USAGE = { input_tokens: 12, cache_read_input_tokens: 0, cache_creation_input_tokens: 0, output_tokens: 7 }

const text = (...pieces: readonly string[]): Block => ({
  whole: { type: 'text', text: pieces.join('') },
  start: { type: 'text', text: '' },
  deltas: pieces.map((piece) => ({ type: 'text_delta', text: piece })),
})

const tool = (id: string, name: string, ...pieces: readonly string[]): Block => ({
  whole: { type: 'tool_use', id, name, input: JSON.parse(pieces.join('') || '{}') },
  start: { type: 'tool_use', id, name, input: {} },
  deltas: ['', ...pieces].map((partial_json) => ({ type: 'input_json_delta', partial_json })),
})

const SIGNATURE = 'c2lnbmVkIHRob3VnaHQ='

const thinking = (...pieces: readonly string[]): Block => ({
  whole: { type: 'thinking', thinking: pieces.join(''), signature: SIGNATURE },
  start: { type: 'thinking', thinking: '', signature: '' },
  deltas: [
    ...pieces.map((piece) => ({ type: 'thinking_delta', thinking: piece })),
    { type: 'signature_delta', signature: SIGNATURE },
  ],
})

/** A message of the Messages API, whole and as its events. */
function message(
  blocks: readonly Block[],
  { stop_reason = 'end_turn', usage = USAGE }: { stop_reason?: string; usage?: object } = {},
) {
  const named = (data: { readonly type: string; readonly [key: string]: unknown }) => event(data, data.type)
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

const failure = (status: number, type: string, words: string) => ({
  status,
  body: { type: 'error', error: { type, message: words }, request_id: 'req_up' },
})

const OSLO = { name: 'get_weather', arguments: { city: 'Oslo' } }
const ROME = { name: 'get_weather', arguments: { city: 'Rome' } }

describeProvider({
  plugin: anthropic,
  config: ({ origin }) => ({ baseUrl: origin, apiKey: new Secret('sk-ant-canary-31c9') }),
  model: 'claude-haiku-4-5',

  scenarios: {
    text: {
      ...message([text('Hel', 'lo ', 'wörld 😀')]),
      says: { text: 'Hello wörld 😀', usage: { prompt_tokens: 12, completion_tokens: 7, total_tokens: 19 } },
    },
    parallelTools: {
      ...message([tool('toolu_1', 'get_weather', '{"city": ', '"Oslo"}'), tool('toolu_2', 'get_weather', '{"city":"Rome"}')], {
        stop_reason: 'tool_use',
      }),
      says: { tools: [OSLO, ROME] },
    },
    toolWithoutArguments: {
      ...message([tool('toolu_1', 'list_cities')], { stop_reason: 'tool_use' }),
      says: { tools: [{ name: 'list_cities', arguments: {} }] },
    },
    textBeforeTools: {
      ...message([text('Let me ', 'look.'), tool('toolu_1', 'get_weather', '{"city":"Oslo"}')], { stop_reason: 'tool_use' }),
      says: { text: 'Let me look.', tools: [OSLO] },
    },
    reasoning: {
      ...message([thinking('Let me ', 'think.'), text('Done.')]),
      says: { reasoning: 'Let me think.', text: 'Done.' },
    },
    reasoningBeforeTools: {
      ...message([thinking('The weather?'), tool('toolu_1', 'get_weather', '{"city":"Oslo"}')], { stop_reason: 'tool_use' }),
      says: { reasoning: 'The weather?', tools: [OSLO] },
      returns: SIGNATURE,
    },
    refusal: { ...message([text('I will')], { stop_reason: 'refusal' }), says: { text: 'I will', finish: 'content_filter' } },
    length: { ...message([text('Once upon')], { stop_reason: 'max_tokens' }), says: { text: 'Once upon', finish: 'length' } },
    image: { ...message([text('A dot.')]), says: { text: 'A dot.' } },
    cachedUsage: {
      ...message([text('Hi.')], {
        usage: { input_tokens: 10, cache_read_input_tokens: 1000, cache_creation_input_tokens: 200, output_tokens: 5 },
      }),
      says: {
        text: 'Hi.',
        usage: { prompt_tokens: 1210, prompt_tokens_details: { cached_tokens: 1000, cache_write_tokens: 200 } },
      },
    },
  },

  errors: {
    badRequest: failure(400, 'invalid_request_error', 'messages: roles must alternate'),
    contextTooLong: failure(400, 'invalid_request_error', 'prompt is too long: 210000 tokens > 200000 maximum'),
    badCredential: failure(401, 'authentication_error', 'invalid x-api-key'),
    unknownModel: failure(404, 'not_found_error', 'model: claude-nine'),
    rateLimit: failure(429, 'rate_limit_error', 'Number of requests has exceeded your rate limit'),
    quota: failure(400, 'invalid_request_error', 'Your credit balance is too low to access the Anthropic API.'),
    overloaded: failure(529, 'overloaded_error', 'Overloaded'),
    internal: failure(500, 'api_error', 'Internal server error'),
  },

  midStreamError: {
    stream: [
      ...message([text('Hel', 'lo')]).stream.slice(0, 4),
      event({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }, 'error'),
    ],
    code: 'upstream_overloaded',
  },

  discovery: {
    answers: { data: [{ id: 'claude-a', created_at: '2026-01-01T00:00:00Z' }, { id: 'claude-b' }], has_more: false },
    lists: ['claude-a', 'claude-b'],
  },

  parameters: {
    // Beside a temperature none is taken.
    top_p: { top_p: 0.5 },
    reasoning_effort: { reasoning_effort: 'low', max_tokens: 10_000 },
  },
})
