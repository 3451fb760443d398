import { Secret } from 'unified-model-gateway/plugin'
import { describeProvider, event, openaiReply, type Said } from 'unified-model-gateway/plugin/testing'
import openaiCompatible from '../../../../plugins/providers/openai-compatible/index.ts'
import { configured } from './configured.ts'
import { OPENAI_ERRORS } from './openai-errors.ts'

const said = <Says extends Said>(says: Says) => ({ ...openaiReply(says), says })

const OSLO = { name: 'get_weather', arguments: { city: 'Oslo' } }
const ROME = { name: 'get_weather', arguments: { city: 'Rome' } }

const EMBEDDINGS = [
  [0.25, -0.5, 1],
  [0.125, 0, -1],
]

/** Members by which gateways among the upstreams choose another model or account. */
const CHOOSING = [
  'models',
  'route',
  'preset',
  'fallbacks',
  'providerOptions',
  'api_base',
  'base_url',
  'api_key',
  'model_list',
  'user_config',
  'litellm_params',
  'extra_body',
]

/** Calls with one of them each. */
const choosing = {
  ...Object.fromEntries(CHOOSING.map((name) => [`the member ${name}`, { [name]: 'other' }])),
  'the member fallbacks of metadata': { metadata: { fallbacks: ['other'] } },
  'a member in capitals': { MODELS: ['other'] },
}

describeProvider({
  plugin: openaiCompatible,
  config: ({ origin }) => ({ baseUrl: `${origin}/v1`, apiKey: new Secret('sk-open-canary-77d1') }),
  model: 'gpt-x',
  requests: { file: new URL('requests.http', import.meta.url), asked: choosing, configured },

  scenarios: {
    text: said({ text: 'Hello wörld 😀', usage: { prompt_tokens: 12, completion_tokens: 7, total_tokens: 19 } }),
    parallelTools: said({ tools: [OSLO, ROME] }),
    toolWithoutArguments: said({ tools: [{ name: 'list_cities', arguments: {} }] }),
    textBeforeTools: said({ text: 'Let me look.', tools: [OSLO] }),
    reasoning: said({ reasoning: 'Let me think.', text: 'Done.' }),
    reasoningBeforeTools: { ...said({ reasoning: 'The weather?', tools: [OSLO] }), returns: 'The weather?' },
    refusal: said({ refusal: 'I will not say that.' }),
    length: said({ text: 'Once upon', finish: 'length' }),
    image: said({ text: 'A dot.' }),
    cachedUsage: said({
      text: 'Hi.',
      usage: { prompt_tokens: 1200, completion_tokens: 5, total_tokens: 1205, prompt_tokens_details: { cached_tokens: 1000 } },
    }),
  },

  errors: OPENAI_ERRORS,

  noEndpoint: { status: 404, body: { detail: 'Not Found' } },

  midStreamError: {
    stream: [
      ...openaiReply({ text: 'Hello' }).stream.slice(0, 2),
      event({ error: { message: 'Overloaded', type: 'overloaded_error', param: null, code: null } }),
    ],
    code: 'upstream_overloaded',
  },

  discovery: { answers: { object: 'list', data: [{ id: 'gpt-x' }, { id: 'gpt-y' }] }, lists: ['gpt-x', 'gpt-y'] },

  embeddings: {
    input: ['Hello', 'Wörld'],
    whole: {
      object: 'list',
      data: EMBEDDINGS.map((embedding, index) => ({ object: 'embedding', index, embedding })),
      model: 'text-embedding-x',
      usage: { prompt_tokens: 3, total_tokens: 3 },
    },
    says: { vectors: EMBEDDINGS, tokens: 3 },
  },
})
