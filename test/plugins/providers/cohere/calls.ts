import { Secret } from 'unified-model-gateway/plugin'
import type { Asked, RequestsFixture } from 'unified-model-gateway/plugin/testing'

const apiKey = new Secret('cohere-canary-31c9')

const user = (content: unknown) => ({ role: 'user', content })
const text = (words: string) => ({ type: 'text', text: words })
const refusal = (words: string) => ({ type: 'refusal', refusal: words })
const image = (more: object) => ({ type: 'image_url', image_url: { url: 'https://images.example/a.png', ...more } })
const says = (...messages: readonly unknown[]): Asked => ({ messages })

const tool = (name: string) => ({ type: 'function', function: { name, description: '', parameters: { required: ['at'] } } })
const tools = [tool('look'), tool('tell_time')]

/** A message of two calls with what Cohere thought before them, and the results. `content`: the message's own text. */
function calls(content: unknown, ...states: readonly unknown[]): Asked {
  const made = states.map((state, index) => ({
    id: index === 0 ? '' : 'call',
    type: 'function',
    function: { name: 'look', arguments: index === 0 ? '{"at":12345678901234567890}' : '["at"]' },
    extra_content: state,
  }))
  const results = made.map(({ id }, index) => ({ role: 'tool', tool_call_id: id, content: index === 0 ? ' ' : [text('Two.')] }))
  return says(user('Hello'), { role: 'assistant', content, tool_calls: made }, ...results)
}

/** Chat completion requests in which Cohere differs from OpenAI. */
export const asked: Readonly<Record<string, Asked>> = {
  'a user without content': says(user(null), user('Hello')),
  'blank texts': says(
    { role: 'system', content: ' ' },
    user(' '),
    { role: 'assistant', content: ' ' },
    user([text(' '), text('Hello')]),
  ),
  'only blank texts': says(user(' ')),
  'two instructions': says(
    { role: 'system', content: 'Be brief.' },
    { role: 'system', content: [text('Be'), text(' kind.')] },
    user('Hello'),
  ),
  'instructions without content': says({ role: 'system', content: null }, user('Hello')),
  refusals: says(
    user([refusal('No.')]),
    { role: 'assistant', content: [text('I'), refusal(' do not.')], refusal: ' Never.' },
    user('Why?'),
  ),
  'an image in no detail of its own': says(user([image({ detail: 'auto' })])),
  'an image in high detail': says(user([image({ detail: 'high' })])),
  'an image in an unknown detail': says(user([image({ detail: 'huge' })])),
  'an image in instructions': says({ role: 'system', content: [text('a'), image({})] }, user('Hello')),
  'a sound': says(user([text('a'), { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } }])),

  'a plan before tools': calls('It is', { cohere: { tool_plan: 'I look.' } }, { cohere: { tool_plan: ' ', thinking: 'Hm.' } }),
  'a thought before tools': calls('', { cohere: { thinking: '', tool_plan: 7 } }, { cohere: { thinking: 'Well.' } }),
  'what others kept with tools': calls(null, 'cohere', { cohere: 'plan' }),
  'a result without its call': says(user('Hello'), { role: 'tool', tool_call_id: 'a', content: 'b' }),

  'the reasoning effort none of a model that does not think': { model: 'command-a-03-2025', reasoning_effort: 'none' },
  'an unknown reasoning effort': { reasoning_effort: 'huge' },
  'a reasoning effort without a maximum': { reasoning_effort: 'low' },
  'a low reasoning effort of few tokens': { reasoning_effort: 'minimal', max_tokens: 3 },
  'a high reasoning effort of few tokens': { reasoning_effort: 'high', max_tokens: 3 },
  'the reasoning effort max': { reasoning_effort: 'max', max_tokens: 3 },

  'a tool with half a schema': { tools },
  'one of two tools that is to be called': { tools, tool_choice: { type: 'function', function: { name: 'look' } } },
  'a tool that is to be called and not there': { tools, tool_choice: { type: 'function', function: { name: 'fly' } } },
  'two tools that are allowed, or must be called': {
    tools,
    tool_choice: {
      type: 'allowed_tools',
      allowed_tools: {
        mode: 'required',
        tools: ['fly', 'swim'].map((name) => ({ type: 'function', function: { name } })),
      },
    },
  },
  'a call that is required without tools': { tool_choice: 'required' },
  'no call, without tools': { tool_choice: 'none' },
  'no call, of a model that cannot be told': { model: 'command-r-08-2024', tools, tool_choice: 'none' },
  'a tool of another type': { tools: [tools[0], { type: 'custom', custom: { name: 'sing' } }] },
  'tools beside a reply in JSON': { tools, response_format: { type: 'json_object' } },

  'the least of top_p': { top_p: 0 },
  'the most of top_p': { top_p: 1 },
  'a negative seed': { seed: -7 },
  'no seed': { seed: null, temperature: null, top_p: null, stop: null, tools: null, reasoning_effort: null },
  'both penalties': { frequency_penalty: 0.5, presence_penalty: 0.25 },
  'penalties below 0': { frequency_penalty: -1, presence_penalty: -0.5 },
  'a penalty of 0 beside a high one': { frequency_penalty: 0, presence_penalty: 2 },
  'only empty stop sequences': { stop: [''] },
}

/** Requests to other endpoints. */
export const endpoints: RequestsFixture['endpoints'] = {
  embeddings: {
    'of a query, in no dimensions of their own': { input_type: 'search_query', dimensions: null },
    'to classify': { input_type: 'classification' },
    'to cluster': { input_type: 'clustering' },
    'of a document': { input_type: 'search_document' },
    'of a purpose that is null': { input_type: null },
    'of an unknown purpose': { input_type: 'fun' },
    'of tokens': { input: [1, 2] },
    'with all fields': { encoding_format: 'float', user: 'ann' },
  },
  rerank: {
    'of objects, with all fields': {
      documents: [{ text: 'Here.' }, 'There.'],
      max_tokens_per_doc: 99,
      return_documents: true,
      user: 'ann',
    },
    'with fields that are null': { top_n: null, max_tokens_per_doc: null },
    'of an object without a text': { documents: ['Here.', { title: 'There.' }] },
  },
}

/** Configurations. */
export const configured: RequestsFixture['configured'] = {
  "at Cohere's address": {
    config: { apiKey },
    endpoints: { embeddings: { 'of a text': {} }, rerank: { 'of texts': {} } },
  },
  'at an address with a version': { config: { apiKey, baseUrl: 'https://gateway.example/cohere/v2/' } },
  'at an address with the old version': { config: { apiKey, baseUrl: 'https://gateway.example/v1' } },
  'with facts of its own': {
    config: {
      apiKey,
      facts: {
        'command-a-plus-*': { thinking: false },
        'command-a-03-*': { thinking: true, toolChoice: false, maxTokens: 1000 },
      },
    },
    asked: {
      'reasoning of a model that does not think': { reasoning_effort: 'low' },
      'reasoning of a model of few tokens': { model: 'command-a-03-2025', reasoning_effort: 'medium' },
      'no call of a tool': { model: 'command-a-03-2025', tools, tool_choice: 'none' },
      'reasoning of an unlisted model': { model: 'unlisted', reasoning_effort: 'high', tools, tool_choice: 'required' },
    },
  },
  'at the address of its endpoint': { config: { apiKey, baseUrl: 'https://gateway.example/v2/chat' } },
  'at an invalid address': { config: { apiKey, baseUrl: 'https://' } },
}
