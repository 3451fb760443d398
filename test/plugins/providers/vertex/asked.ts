import type { Asked, MoreCalls, RequestsFixture } from 'unified-model-gateway/plugin/testing'
import { IMAGES } from '../gemini/asked.ts'

const user = (content: unknown) => ({ role: 'user', content })

/** Names of models, with their publishers and without. */
const NAMES: Readonly<Record<string, Asked>> = Object.fromEntries(
  [
    'google/gemini-2.5-flash',
    'publishers/google/models/gemini-2.5-flash',
    'anthropic/claude-opus-4-8',
    'publishers/anthropic/models/claude-opus-4-8@20260101',
    'google/claude-like',
    'anthropic/own-model',
    'claude-opus-4-8@default',
    'gemini-2.0-flash',
    'meta/llama-4',
    'gemini-2.5-flash/../x',
  ].map((model) => [`the model ${model}`, { model, reasoning_effort: 'low', frequency_penalty: 0.5 }]),
)

/** Chat completion requests, by title. */
export const ASKED: Readonly<Record<string, Asked>> = {
  ...NAMES,
  'a streamed text of a Claude': { model: 'claude-opus-4-8', stream: true },
  'a JSON object of a Claude': { model: 'claude-opus-4-8', response_format: { type: 'json_object' } },
  'thinking of a dated Claude': {
    model: 'claude-opus-4-8@20260101',
    messages: [
      user('Hello'),
      {
        role: 'assistant',
        tool_calls: [
          {
            id: 'call_a',
            type: 'function',
            function: { name: 'look', arguments: '{}' },
            extra_content: {
              anthropic: {
                model: 'claude-opus-4-8-20260101',
                thinking: [{ type: 'thinking', thinking: 'The weather?', signature: 'c2lnbmVk' }],
              },
            },
          },
        ],
      },
      { role: 'tool', tool_call_id: 'call_a', content: 'Rain.' },
    ],
    reasoning_effort: 'low',
  },
  'a file in a bucket': { messages: [user([{ type: 'image_url', image_url: { url: 'gs://our-pictures/a.png' } }])] },
}

const claude = 'claude-opus-4-8@20260101'
const newer = 'gemini-embedding-2-preview'
const image = 'gemini-2.5-flash-image'

/** Requests to other endpoints. */
export const ENDPOINTS: MoreCalls['endpoints'] = {
  ...IMAGES,
  messages: {
    'of a dated Claude': { model: claude },
    'of a dated Claude, streamed': { model: claude, stream: true },
    'of a Claude by its publisher': { model: 'anthropic/claude-opus-4-8' },
    'of a Gemini': { model: 'gemini-2.5-flash' },
  },
  'messages.count_tokens': {
    'of a dated Claude': { model: claude },
    'of a Claude by its publisher': { model: 'anthropic/claude-opus-4-8' },
  },
  embeddings: {
    'of a newer model': { model: newer, input: 'Hello' },
    'of a newer model, of 256 dimensions': {
      model: newer,
      input: 'Hello',
      dimensions: 256,
      encoding_format: 'base64',
      user: 'user-1',
    },
    'of a newer model, of a list': { model: newer, input: ['Hello', 'Wörld'] },
    'of gemini-embedding-001': { model: 'gemini-embedding-001', dimensions: null, input: ['Hello', 'Wörld'] },
    'of gemini-embedding-001, of 256 dimensions': { model: 'google/gemini-embedding-001', dimensions: 256 },
    'of a Claude': { model: claude },
    'of tokens': { model: newer, input: [1, 2] },
    'of another publisher': { model: 'meta/llama-4' },
  },
  'images.generations': {
    ...IMAGES['images.generations'],
    'of a Claude that is named so': { model: `anthropic/${image}` },
    'of another publisher': { model: `meta/${image}` },
  },
}

const project = 'acme-ai'
const others: MoreCalls = {
  asked: { 'a streamed text of a Gemini': { model: 'gemini-2.5-flash', stream: true }, 'a text of a Claude': { model: claude } },
  endpoints: {
    embeddings: { 'of a text': { model: newer, input: 'Hello' } },
    'images.generations': { 'of a fox': { model: image } },
    messages: { 'of a Claude': { model: claude } },
  },
}

/** Configurations of the provider. */
export const CONFIGURED: RequestsFixture['configured'] = {
  'in no region': { config: { project }, ...others },
  'in all regions': { config: { project, region: 'global' } },
  'in a region': { config: { project, region: 'us-east5' }, ...others },
  'in the regions of the US': { config: { project, region: 'us' } },
  'in the regions of the EU': { config: { project, region: 'eu' } },
  'at the address of a proxy': { config: { project, baseUrl: 'https://proxy.example/google/' }, ...others },
  'at the address of a version': { config: { project, baseUrl: 'https://proxy.example/v1beta1' }, ...others },
  'where Claudes cannot be listed': { config: { project, baseUrl: 'https://proxy.example/only-google' } },
  'where Geminis cannot be listed': { config: { project, baseUrl: 'https://proxy.example/only-anthropic' } },
  'with addresses that are allowed': {
    config: { project, addresses: ['gs://our-pictures/*'] },
    asked: { 'a file in our bucket': ASKED['a file in a bucket']! },
  },
  'with facts of models': {
    config: {
      project,
      facts: { 'own-model': { thinking: 'none', penalties: true }, 'claude-own': { thinking: 'budget', maxTokens: 5000 } },
    },
    asked: {
      'a penalty': { model: 'own-model', frequency_penalty: 0.5, reasoning_effort: 'low' },
      'an effort': { model: 'claude-own', reasoning_effort: 'low' },
    },
  },
  'at the address of an endpoint': { config: { project, baseUrl: 'https://proxy.example/v1/projects' } },
  'at no address': { config: { project, region: 'eu', baseUrl: 'http://' } },
}
