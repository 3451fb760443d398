import { Secret } from 'unified-model-gateway/plugin'
import { describeProvider } from 'unified-model-gateway/plugin/testing'
import gemini from '../../../../plugins/providers/gemini/index.ts'
import { askedOf } from '../../../support/asked-models.ts'
import { RARE_REQUESTS } from '../../../support/rare-requests.ts'
import { ASKED } from './asked.ts'
import { call, failure, interaction, interactionEvent, output, thought } from './interactions.ts'
import { ABLE, endpoints } from './scenarios.ts'

const SIGNATURE = 'EskgCsYgAb4c2lnbmVkIHRob3VnaHQ='
const OSLO = { name: 'get_weather', arguments: { city: 'Oslo' } }
const ROME = { name: 'get_weather', arguments: { city: 'Rome' } }

describeProvider({
  plugin: gemini,
  title: 'gemini, by the Interactions API',
  config: ({ origin }) => ({
    baseUrl: origin,
    apiKey: new Secret('AIza-canary-31c9'),
    api: 'interactions',
    facts: { 'gemini-able': ABLE },
  }),
  model: 'gemini-able',
  requests: {
    file: new URL('interactions-requests.http', import.meta.url),
    asked: { ...RARE_REQUESTS, ...ASKED, ...askedOf(['gemini-2.5-pro', 'gemini-3.6-flash', 'unlisted']) },
  },
  scenarios: {
    text: {
      ...interaction([output('Hel', 'lo ', 'wörld 😀')]),
      says: { text: 'Hello wörld 😀', usage: { prompt_tokens: 12, completion_tokens: 7, total_tokens: 19 } },
    },
    parallelTools: {
      ...interaction([call('ktr5aysg', 'get_weather', { city: 'Oslo' }), call('ktr5aysh', 'get_weather', { city: 'Rome' })]),
      says: { tools: [OSLO, ROME] },
    },
    toolWithoutArguments: {
      ...interaction([call('ktr5aysg', 'list_cities')]),
      says: { tools: [{ name: 'list_cities', arguments: {} }] },
    },
    textBeforeTools: {
      ...interaction([output('Let me ', 'look.'), call('ktr5aysg', 'get_weather', { city: 'Oslo' })]),
      says: { text: 'Let me look.', tools: [OSLO] },
    },
    reasoning: {
      ...interaction([thought(SIGNATURE, 'Let me ', 'think.'), output('Done.')]),
      says: { reasoning: 'Let me think.', text: 'Done.' },
    },
    reasoningBeforeTools: {
      ...interaction([thought(SIGNATURE, 'The weather?'), call('ktr5aysg', 'get_weather', { city: 'Oslo' })]),
      says: { reasoning: 'The weather?', tools: [OSLO] },
      returns: SIGNATURE,
    },
    refusal: {
      ...interaction([output('I will')], { status: 'failed', errors: [{ code: 'safety', message: 'Blocked.' }] }),
      says: { text: 'I will', finish: 'content_filter' },
    },
    length: {
      ...interaction([output('Once upon')], { status: 'incomplete' }),
      says: { text: 'Once upon', finish: 'length' },
    },
    image: { ...interaction([output('A dot.')]), says: { text: 'A dot.' } },
    cachedUsage: {
      ...interaction([output('Hi.')], {
        usage: { total_input_tokens: 1210, total_cached_tokens: 1000, total_output_tokens: 5, total_thought_tokens: 20 },
      }),
      says: {
        text: 'Hi.',
        usage: {
          prompt_tokens: 1210,
          completion_tokens: 25,
          prompt_tokens_details: { cached_tokens: 1000 },
          completion_tokens_details: { reasoning_tokens: 20 },
        },
      },
    },
  },

  finishes: {
    budget_exceeded: {
      ...interaction([output('Once upon')], { status: 'budget_exceeded' }),
      says: { text: 'Once upon', finish: 'length' },
    },
    requires_continuation: {
      ...interaction([output('Once upon')], { status: 'requires_continuation' }),
      says: { text: 'Once upon', finish: 'length' },
    },
  },

  errors: {
    badRequest: failure(400, 'invalid_request', "The value 'x' is not supported for 'type' at 'tools[0]'."),
    contextTooLong: failure(
      400,
      'invalid_request',
      'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
    ),
    badCredential: failure(401, 'authentication', 'API key not valid. Please pass a valid API key.'),
    unknownModel: failure(404, 'model_not_found', 'models/gemini-nine is not found.'),
    rateLimit: failure(429, 'rate_limit_exceeded', 'You exceeded your current quota.'),
    quota: failure(429, 'quota_exceeded', 'You exceeded your daily quota.'),
    overloaded: failure(503, 'service_unavailable', 'The model is overloaded. Please try again later.'),
    internal: failure(500, 'api_error', 'An internal error has occurred.'),
  },

  midStreamError: {
    stream: [
      ...interaction([output('Hel', 'lo')]).stream.slice(0, 4),
      interactionEvent('error', { error: { code: 'service_unavailable', message: 'The model is overloaded.' } }),
    ],
    code: 'upstream_overloaded',
  },

  endpoints,
  discovery: {
    answers: { models: [{ name: 'models/gemini-a', supportedGenerationMethods: ['generateContent'] }] },
    lists: ['gemini-a'],
  },
  embeddings: { absent: 'they are those of the provider with generateContent' },
})
