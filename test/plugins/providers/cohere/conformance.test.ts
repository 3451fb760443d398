import { Secret } from 'unified-model-gateway/plugin'
import { describeProvider } from 'unified-model-gateway/plugin/testing'
import plugin from '../../../../plugins/providers/cohere/index.ts'
import { askedOf } from '../../../support/asked-models.ts'
import { asked, configured, endpoints } from './calls.ts'
import { content, plan, reply, tool, USAGE } from './chat-reply.ts'
import { event, MODEL } from './support.ts'

const EMBEDDINGS = [
  [0.25, -0.5, 1],
  [0.125, 0, -1],
]

const RANKS = [
  { index: 1, relevance_score: 0.75 },
  { index: 0, relevance_score: 0.25 },
]

const failure = (status: number, message: string) => ({ status, body: { id: 'f2c9', message } })

const OSLO = { name: 'get_weather', arguments: { city: 'Oslo' } }
const ROME = { name: 'get_weather', arguments: { city: 'Rome' } }

describeProvider({
  plugin,
  config: ({ origin }) => ({ baseUrl: origin, apiKey: new Secret('cohere-canary-31c9') }),
  model: MODEL,
  requests: {
    file: new URL('requests.http', import.meta.url),
    asked: { ...askedOf(['command-r-08-2024', 'command-a-03-2025', 'command-a-reasoning-08-2025']), ...asked },
    endpoints,
    configured,
  },

  scenarios: {
    text: {
      ...reply([content('text', 'Hel', 'lo ', 'wörld 😀')]),
      says: { text: 'Hello wörld 😀', usage: { prompt_tokens: 12, completion_tokens: 7, total_tokens: 19 } },
    },
    parallelTools: {
      ...reply(
        [tool('get_weather_1', 'get_weather', '{"city": ', '"Oslo"}'), tool('get_weather_2', 'get_weather', '{"city":"Rome"}')],
        'TOOL_CALL',
      ),
      says: { tools: [OSLO, ROME] },
    },
    toolWithoutArguments: {
      ...reply([tool('list_cities_1', 'list_cities', 'nu', 'll')], 'TOOL_CALL'),
      says: { tools: [{ name: 'list_cities', arguments: {} }] },
    },
    textBeforeTools: { absent: 'what Cohere says before it calls is a plan' },
    reasoning: {
      ...reply([content('thinking', 'Let me ', 'think.'), content('text', 'Done.')]),
      says: { reasoning: 'Let me think.', text: 'Done.' },
    },
    reasoningBeforeTools: {
      ...reply([plan('I will ', 'look outside.'), tool('get_weather_1', 'get_weather', '{"city":"Oslo"}')], 'TOOL_CALL'),
      says: { reasoning: 'I will look outside.', tools: [OSLO] },
      returns: 'I will look outside.',
    },
    refusal: { absent: 'Cohere refuses in words, or by an error' },
    length: { ...reply([content('text', 'Once upon')], 'MAX_TOKENS'), says: { text: 'Once upon', finish: 'length' } },
    image: { ...reply([content('text', 'A dot.')]), says: { text: 'A dot.' } },
    cachedUsage: {
      ...reply([content('text', 'Hi.')], 'COMPLETE', { ...USAGE, cached_tokens: 10 }),
      says: { text: 'Hi.', usage: { prompt_tokens: 12, prompt_tokens_details: { cached_tokens: 10 } } },
    },
  },

  errors: {
    badRequest: failure(400, 'invalid request: message must be at least 1 token long'),
    contextTooLong: failure(400, 'too many tokens: size limit exceeded by 1200 tokens. Try using shorter or fewer inputs.'),
    badCredential: failure(401, 'invalid api token'),
    unknownModel: failure(404, "model 'no-such-model' not found, make sure the correct model ID was used"),
    rateLimit: failure(429, 'You are using a Trial key, which is limited to 20 API calls / minute.'),
    quota: failure(402, 'Please add or update your payment method to continue.'),
    overloaded: failure(503, 'The service is overloaded. Please try again later.'),
    internal: failure(500, 'internal server error'),
  },

  midStreamError: {
    stream: [
      ...reply([content('text', 'Hel', 'lo')]).stream.slice(0, 3),
      event({ type: 'message-end', delta: { finish_reason: 'ERROR', error: 'internal server error' } }),
    ],
    code: 'upstream_error',
  },

  discovery: { answers: { models: [{ name: MODEL, context_length: 256_000 }, { name: '' }] }, lists: [MODEL] },

  endpoints: {
    rerank: {
      asked: { model: 'rerank-v4.0-pro' },
      whole: { id: 'r-1', results: RANKS, meta: { billed_units: { search_units: 1 } } },
      says: { object: 'list', model: 'under-test/rerank-v4.0-pro', results: RANKS },
    },
  },

  embeddings: {
    asked: { model: 'embed-v4.0' },
    input: ['Hello', 'Wörld'],
    whole: {
      id: '5807ee2e-0cda-445a-9ec8-864c60a06606',
      texts: ['hello', 'wörld'],
      embeddings: { float: EMBEDDINGS },
      meta: { api_version: { version: '2' }, billed_units: { input_tokens: 3 } },
      response_type: 'embeddings_by_type',
    },
    says: { vectors: EMBEDDINGS, tokens: 3 },
    parameters: { input_type: { input_type: 'search_query' } },
  },
})
