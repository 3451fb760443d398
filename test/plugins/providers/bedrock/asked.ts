import { Secret } from 'unified-model-gateway/plugin'
import type { Asked, MoreCalls, RequestsFixture } from 'unified-model-gateway/plugin/testing'

const MODEL = 'us.anthropic.claude-sonnet-4-6'
const user = (content: unknown) => ({ role: 'user', content })
const tool = (name: string, more: object = {}) => ({ type: 'function', function: { name, ...more } })
const TOOLS = [tool('look', { description: 'Looks.', strict: true }), tool('listen')]

const REASONED = { reasoningContent: { reasoningText: { text: 'The weather?', signature: 'c2lnbmVk' } } }
const REDACTED = { reasoningContent: { redactedContent: 'c2VjcmV0' } }

/** Calls of tools, with the reasoning before each, and their results. */
function called(states: readonly unknown[], more: Asked = {}): Asked {
  const calls = states.map((bedrock, index) => ({
    id: `call_${index}`,
    type: 'function',
    function: { name: 'look', arguments: '{}' },
    ...(bedrock !== undefined && { extra_content: { bedrock } }),
  }))
  const results = calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'Rain.' }))
  return {
    messages: [user('Hello'), { role: 'assistant', content: 'I look.', tool_calls: calls }, ...results],
    tools: TOOLS,
    reasoning_effort: 'low',
    max_tokens: 10_000,
    ...more,
  }
}

const of = (model: string, ...reasoning: readonly unknown[]) => ({ model, reasoning })

/** Reasoning that a client sends back, which only its own model takes. */
const REASONING: Readonly<Record<string, Asked>> = {
  'reasoning of this model': called([of(MODEL, REASONED)]),
  'reasoning of this model in other regions': called([
    of('eu.anthropic.claude-sonnet-4-6', REASONED),
    of('anthropic.claude-sonnet-4-6', REASONED),
    of('arn:aws:bedrock:us-east-1:1:inference-profile/us-gov.anthropic.claude-sonnet-4-6', REASONED),
  ]),
  'reasoning of another model': called([of('us.anthropic.claude-opus-4-8', REASONED)]),
  'redacted reasoning, and reasoning between calls': called([of(MODEL, REDACTED), of(MODEL, REASONED, REDACTED)]),
  'invalid reasoning': called([
    of(MODEL, null, {}, { reasoningContent: {} }, { reasoningContent: { reasoningText: { text: 'No.' } } }),
    of(MODEL, { reasoningContent: { reasoningText: { text: 'No.', signature: '' } } }),
    of(MODEL, { reasoningContent: { reasoningText: { text: 7, signature: 'c2lnbmVk' } } }, { text: 'No.' }),
    { model: MODEL, reasoning: 'No.' },
    { reasoning: [REASONED] },
    'No.',
  ]),
  'reasoning, without a reasoning effort': called([of(MODEL, REASONED)], { reasoning_effort: null }),
  'reasoning of a model with a budget': called([of('anthropic.claude-haiku-4-5-20251001-v1:0', REASONED)], {
    model: 'anthropic.claude-haiku-4-5-20251001-v1:0',
  }),
  'a call without reasoning, of a model with a budget': called([undefined], {
    model: 'anthropic.claude-haiku-4-5-20251001-v1:0',
  }),
  'nothing but instructions, of a model with a budget': {
    model: 'anthropic.claude-haiku-4-5-20251001-v1:0',
    messages: [
      { role: 'assistant', content: ' ' },
      { role: 'system', content: 'Be brief.' },
    ],
    reasoning_effort: 'low',
  },
}

const MODELS = [
  'anthropic.claude-opus-5-5',
  'anthropic.claude-sonnet-5-5',
  'anthropic.claude-opus-5',
  'anthropic.claude-haiku-4-5-20251001-v1:0',
  'amazon.nova-2-lite-v1:0',
  'openai.gpt-oss-120b-1:0',
  'deepseek.v3-v1:0',
  'mistral.mistral-large-2407-v1:0',
  'meta.llama3-3-70b-instruct-v1:0',
  'unlisted',
]
const EFFORTS = ['none', 'low', 'medium', 'max']

/** What models differ in. */
const DIFFERENCES: Readonly<Record<string, Asked>> = Object.fromEntries(
  MODELS.flatMap((model) => [
    ...EFFORTS.map(
      (effort) => [`the effort ${effort}, of ${model}`, { model, reasoning_effort: effort, temperature: 0.5 }] as const,
    ),
    [`the effort high beside a limit, of ${model}`, { model, reasoning_effort: 'high', max_tokens: 5000, top_p: 0.5 }],
    [`a top_p of 1 beside a temperature, of ${model}`, { model, temperature: 0.5, top_p: 1 }],
    [`a temperature above 1, of ${model}`, { model, temperature: 1.5 }],
    [`strict tools, of ${model}`, { model, tools: TOOLS }],
    [`tools that are called one by one, of ${model}`, { model, tools: TOOLS, parallel_tool_calls: false }],
    [`a tool that is to be called, of ${model}`, { model, tools: TOOLS, tool_choice: tool('look') }],
    [`two tools of which one is to be called, of ${model}`, { model, tools: TOOLS, tool_choice: allowed('look', 'listen') }],
    [`calls and no tool, of ${model}`, called([undefined], { model, tools: undefined, reasoning_effort: null })],
    [`calls and tools that are not to be called, of ${model}`, called([undefined], { model, tool_choice: 'none' })],
    [`marked parts and tools, of ${model}`, marked(model)],
  ]),
)

function allowed(...names: readonly string[]): object {
  return { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: names.map((name) => tool(name)) } }
}

function marked(model: string): Asked {
  const cache_control = { type: 'ephemeral' }
  return {
    model,
    messages: [{ role: 'system', content: [{ type: 'text', text: 'One.', cache_control }] }, user('Two.')],
    tools: [{ ...tool('look'), cache_control }],
    cache_control,
  }
}

const file = (type: string, filename: string) => ({
  type: 'file',
  file: { filename, file_data: `data:${type};base64,SGVsbG8=` },
})
const OFFICE = 'application/vnd.openxmlformats-officedocument'
const NAMES = ['ü.pdf', 'a', 'a.pdf', 'a.longextension', '[1] (b)-c_d.e.pdf', '  a   b  ', `${'n'.repeat(300)}.pdf`]

/** Chat completion requests to Bedrock, by title. */
export const ASKED: Readonly<Record<string, Asked>> = {
  ...REASONING,
  ...DIFFERENCES,
  'documents of each type': {
    messages: [
      user([
        file('application/pdf', 'a.pdf'),
        file('text/csv', 'b.csv'),
        file('application/msword', 'c.doc'),
        file(`${OFFICE}.wordprocessingml.document`, 'd.docx'),
        file('application/vnd.ms-excel', 'e.xls'),
        file(`${OFFICE}.spreadsheetml.sheet`, 'f.xlsx'),
        file('text/html', 'g.html'),
        file('text/plain', 'h.txt'),
        file('text/markdown', 'i.md'),
      ]),
    ],
  },
  'documents of odd names': { messages: [user(NAMES.map((name) => file('application/pdf', name)))] },
  'documents of equal names in several messages': {
    messages: [1, 2, 3, 4].map(() => user([file('application/pdf', 'a.pdf'), file('application/pdf', 'A-2.pdf')])),
  },
  'sounds as parts': {
    messages: [
      user([
        { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } },
        { type: 'input_audio', input_audio: { data: 'SUQz', format: 'mp3' } },
      ]),
    ],
  },
  'a document in the instructions': { messages: [{ role: 'system', content: [file('text/plain', 'a.txt')] }, user('Hello')] },
  'the address of a file in S3': { messages: [user([{ type: 'image_url', image_url: { url: 's3://bucket/a.png' } }])] },
  'a marked result of a tool': {
    messages: [
      user('Hello'),
      { role: 'assistant', tool_calls: [{ id: 'call_a', ...tool('look', { arguments: '{}' }) }] },
      {
        role: 'tool',
        tool_call_id: 'call_a',
        content: [{ type: 'text', text: 'Rain.', cache_control: { type: 'ephemeral', ttl: '1h' } }],
      },
    ],
  },
  'marks of calls, of a model that does not cache': {
    model: 'unlisted',
    messages: [
      user('Hello'),
      {
        role: 'assistant',
        tool_calls: [{ id: 'call_a', ...tool('look', { arguments: '{}' }), cache_control: { type: 'ephemeral' } }],
      },
      { role: 'tool', tool_call_id: 'call_a', content: 'Rain.' },
      { role: 'assistant', content: 'It rains. \n' },
    ],
    cache_control: { type: 'ephemeral' },
  },
  'ids that Mistral does not take': called([undefined, undefined], {
    model: 'mistral.mistral-large-2407-v1:0',
    reasoning_effort: null,
  }),
  'a model by its ARN': { model: 'arn:aws:bedrock:us-east-1:1:inference-profile/us.amazon.nova-pro-v1:0' },
  "a model's name with marks that AWS encodes": { model: "it's-(a)*!" },
}

const TITAN = 'amazon.titan-embed-text-v2:0'

/** Requests to other endpoints. */
export const ENDPOINTS: MoreCalls['endpoints'] = {
  embeddings: {
    'of Titan': { model: TITAN, input: 'Hello' },
    'of Titan, of 256 dimensions': { model: TITAN, input: 'Hello', dimensions: 256, encoding_format: 'base64', user: 'user-1' },
    'of Titan, of a list': { model: TITAN, input: ['Hello', 'Wörld'] },
    'of Titan, of a query': { model: TITAN, input: 'Hello', input_type: 'search_query' },
    'of Titan by its ARN': { input: 'Hello', model: `arn:aws:bedrock:us-east-1::foundation-model/${TITAN}`, dimensions: null },
    'of a model that writes text': { model: MODEL },
  },
  rerank: {
    'of Cohere': { model: 'cohere.rerank-v3-5:0', max_tokens_per_doc: 100 },
    'of Amazon': { model: 'amazon.rerank-v1:0', documents: [{ text: 'Here.' }, 'There.'] },
    'of Amazon, with a limit': { model: 'amazon.rerank-v1:0', max_tokens_per_doc: 100 },
    'of Amazon, without limits': { model: 'amazon.rerank-v1:0', top_n: undefined, max_tokens_per_doc: null },
    'of a model that writes text': { model: MODEL },
  },
}

const region = 'us-east-1'
const keys = { accessKeyId: new Secret('AKIACANARY31C9'), secretAccessKey: new Secret('secret-canary-31c9') }
const apiKey = new Secret('bedrock-canary-31c9')
const others: MoreCalls = {
  asked: { 'a streamed text': { stream: true } },
  endpoints: {
    embeddings: { 'of Titan': { model: TITAN, input: 'Hello' } },
    rerank: { 'of Amazon': { model: 'amazon.rerank-v1:0' } },
  },
}

/** Configurations of the provider. */
export const CONFIGURED: RequestsFixture['configured'] = {
  "at AWS's own address": { config: { region: 'eu-central-1', ...keys }, ...others },
  'with an API key': { config: { region: 'eu-central-1', apiKey }, ...others },
  'at the address of a proxy': { config: { region, ...keys, baseUrl: 'https://proxy.example/aws/' }, ...others },
  'with another address of the list': {
    config: { region, ...keys, baseUrl: 'https://proxy.example/aws', discoveryUrl: 'https://list.example/models/' },
  },
  'with a guardrail': {
    config: { region, apiKey, guardrail: { id: 'rail-1', version: 'DRAFT' } },
    asked: { 'a streamed text': { stream: true } },
  },
  'for clients of the Messages API': {
    config: { region, ...keys },
    endpoints: {
      messages: {
        'of a Claude': {},
        'of a Claude, streamed': { stream: true },
        'of a Claude by its ARN': { model: 'arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-opus-5' },
        'of Nova': { model: 'amazon.nova-pro-v1:0' },
      },
      'messages.count_tokens': {
        'of a Claude': {},
        'of a Claude by its ARN, that thinks': {
          model: 'arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-opus-5',
          thinking: { type: 'enabled', budget_tokens: 2000 },
        },
      },
    },
  },
  'for clients of the Messages API, with a guardrail': {
    config: { region, ...keys, guardrail: { id: 'rail-1', version: '3' } },
    endpoints: { messages: { 'of a Claude': {} } },
  },
  'with facts of a model': {
    config: {
      region,
      apiKey,
      facts: { 'own-*': { reasoning: 'budget' }, 'other-*': { reasoning: 'adaptive', alwaysReasons: true } },
    },
    asked: {
      'a budget': { model: 'own-model', reasoning_effort: 'low' },
      'an effort': { model: 'other-model', reasoning_effort: 'xhigh' },
      'no effort': { model: 'other-model', reasoning_effort: 'none' },
    },
  },
  'at the address of an endpoint': { config: { region, apiKey, baseUrl: 'https://proxy.example/model' } },
  'at the address of the list': { config: { region, apiKey, discoveryUrl: 'https://proxy.example/foundation-models' } },
  'at no address': { config: { region, apiKey, baseUrl: 'http://' } },
  'with no address of the list': { config: { region, apiKey, discoveryUrl: 'http://' } },
}
