import { Secret } from 'unified-model-gateway/plugin'
import type { Asked, ConfiguredCalls, MoreCalls } from 'unified-model-gateway/plugin/testing'
import { HISTORIES } from '../../../../plugins/providers/openai-compatible/history.ts'

const apiKey = new Secret('sk-open-canary-77d1')

const user = (content: string) => ({ role: 'user', content })

/** A call with all that quirks of requests change. */
const quirky: Readonly<Record<string, Asked>> = {
  'what upstreams differ in': {
    messages: [
      { role: 'developer', content: 'Be brief.' },
      user('Hello'),
      { role: 'assistant', content: 'Hi.', reasoning_content: 'They greet me.' },
      user('And?'),
    ],
    max_completion_tokens: 20,
    stream: true,
    stream_options: { include_obfuscation: false },
  },
}

/** Calls with the maximum of tokens in all its forms. */
const maximums: Readonly<Record<string, Asked>> = {
  'a maximum of its old name': { max_tokens: 20 },
  'both maximums': { max_completion_tokens: 20, max_tokens: 30 },
  'a maximum that is null beside its old name': { max_completion_tokens: null, max_tokens: 30 },
  'maximums that are null': { max_completion_tokens: null, max_tokens: null },
}

/** Calls to the endpoints at which configurations differ. */
const endpoints = {
  responses: { 'of a text': {} },
  completions: { 'of a streamed text': { stream: true } },
} satisfies MoreCalls['endpoints']

/** The quirks of replies. */
const REPLIES = [
  'tool-call-parts',
  'tool-finish',
  'usage-inside-chunks',
  'uncounted-reasoning',
  'cached-tokens',
  'thinking-parts',
  'google-error',
  'empty-overflow',
]

const baseUrl = 'https://models.example/v1'

const headers = (values: object): ConfiguredCalls => ({ config: { baseUrl, headers: values } })

/** Headers that a configuration cannot set. */
const FORBIDDEN = [
  'authorization',
  'content-type',
  'content-length',
  'content-encoding',
  'accept-encoding',
  'host',
  'expect',
  'x-request-id',
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]

/** Headers with a credential, which must be a reference. */
const CREDENTIALS = [
  'x-auth',
  'apikey',
  'x-api-key',
  'Key',
  'X-Token-Of',
  'x-secret',
  'x-password',
  'x-credential',
  'x-credentials',
  'cookie',
  'x-session',
]

const each = (names: readonly string[], value: string) => Object.fromEntries(names.map((name) => [name, value]))

const called = (id: string, extra: object = {}) => ({
  id,
  type: 'function',
  function: { name: 'look', arguments: '{}' },
  ...extra,
})
const result = (id: string) => ({ role: 'tool', tool_call_id: id, content: 'Nothing.' })

/** A conversation of several models, with what each keeps of its reasoning. */
const EARLIER = [
  { role: 'user', content: 'Look.' },
  {
    role: 'assistant',
    content: null,
    reasoning_content: 'I look.',
    tool_calls: [called('call_1', { extra_content: { google: { thought_signature: 'c2ln' } } }), called('call_2')],
  },
  result('call_1'),
  result('call_2'),
  {
    role: 'assistant',
    content: 'Again.',
    reasoning: 'I look again.',
    reasoning_details: [
      { type: 'reasoning.text', format: 'MiniMax-response-v1', index: 0, text: 'I look again.' },
      { type: 'reasoning.encrypted', format: 'google-gemini-v1', index: 0, data: 'ZW5j' },
    ],
    thinking_blocks: [{ type: 'thinking', thinking: 'I look again.', signature: 'c2ln' }],
    tool_calls: [called('call_3', { extra_content: { anthropic: { model: 'claude-x', thinking: [] } } })],
  },
  result('call_3'),
  {
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] },
      { type: 'text', text: 'No.' },
    ],
  },
  { role: 'assistant', content: 'No.' },
  { role: 'user', content: 'Thanks.' },
]

/** Configurations, by title. */
export const configured: Readonly<Record<string, ConfiguredCalls>> = {
  'with the preset openai': { config: { preset: 'openai', apiKey }, endpoints },
  'with a preset at another address': { config: { preset: 'openai', baseUrl, apiKey } },
  'with a preset, but without its Responses API': { config: { preset: 'openai', apiKey, responses: false }, endpoints },
  'with a preset that has quirks': { config: { preset: 'mistral', apiKey }, asked: quirky },
  'with a quirk beside those of its preset': {
    config: { preset: 'perplexity', apiKey, quirks: ['developer-role', 'no-stream-options'] },
    asked: quirky,
    endpoints,
  },
  'without an API key': { config: { baseUrl: 'http://127.0.0.1:1234/a/' } },
  'with the Responses API': { config: { baseUrl, responses: true }, endpoints },
  'with the quirk developer-role': {
    config: { baseUrl, quirks: ['developer-role'] },
    asked: { ...quirky, 'only instructions of a developer': { messages: [{ role: 'developer', content: 'Be brief.' }] } },
  },
  'with the quirk max-tokens': { config: { baseUrl, quirks: ['max-tokens'] }, asked: { ...quirky, ...maximums } },
  'with the quirk no-stream-options': { config: { baseUrl, quirks: ['no-stream-options'] }, asked: quirky, endpoints },
  ...Object.fromEntries(
    Object.keys(HISTORIES).map((history) => [
      `with the history ${history}`,
      { config: { baseUrl, history }, asked: { 'earlier answers': { messages: EARLIER } } },
    ]),
  ),
  'with quirks of replies': { config: { baseUrl, quirks: REPLIES }, asked: quirky },

  'with members that it allows and refuses': {
    config: { baseUrl, allow: ['models', 'metadata.fallbacks'], refuse: ['plugins', 'transforms.deep', 'a+b'] },
    asked: {
      'members that are allowed': { models: ['other'], metadata: { fallbacks: ['other'] } },
      'a member that is refused by default': { route: 'fallback' },
      'a member that is refused': { plugins: [] },
      'a member that is null': { plugins: null },
      'a member in a member': { transforms: { Deep: 1 } },
      'another member in a member': { transforms: { flat: 1 } },
      'a member that is no object': { transforms: 'deep' },
      'a member with a plus': { 'a+b': 1 },
      'a member with two letters': { aab: 1 },
    },
    endpoints: { embeddings: { 'with a member that is refused': { plugins: [] } } },
  },
  'with a member that it cannot allow': { config: { baseUrl, allow: ['model'] } },

  'with headers': headers({
    'X-Team': 'blue\tgreen ÿ',
    'x-api-key': new Secret('header-canary-77d1'),
    'x-monkey': 'a',
    tokens: 'b',
  }),
  'with headers that it cannot set': headers({ ...each(FORBIDDEN.slice(1), 'a'), Authorization: new Secret('b') }),
  'with credentials in the file': headers(each(CREDENTIALS, 'a')),
  'with a header that is set twice': headers({ 'x-team': 'blue', 'X-Team': 'green' }),
  'with a header that has no name': headers({ 'x team': 'blue' }),
  'with a header of two lines': headers({ 'x-team': 'blue\nx-other: green' }),
  'with a credential of two lines': headers({ 'x-api-key': new Secret('header\ncanary') }),

  'at no address': { config: { apiKey } },
  'at an invalid address': { config: { baseUrl: 'models.example' } },
  'at the address of an endpoint': { config: { baseUrl: `${baseUrl}/chat/completions` } },
}
