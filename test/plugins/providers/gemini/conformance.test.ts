import { Secret } from 'unified-model-gateway/plugin'
import { describeProvider, json } from 'unified-model-gateway/plugin/testing'
import gemini from '../../../../plugins/providers/gemini/index.ts'
import { askedOf } from '../../../support/asked-models.ts'
import { RARE_REQUESTS } from '../../../support/rare-requests.ts'
import { ASKED, CONFIGURED, ENDPOINTS } from './asked.ts'
import { ABLE, endpoints, errors, midStreamError, scenarios } from './scenarios.ts'

const VECTORS = [
  [0.25, -0.5, 1],
  [0.125, 0, -1],
]

const FIRST_PAGE = {
  models: [
    { name: 'models/gemini-a', inputTokenLimit: 1_048_576, supportedGenerationMethods: ['generateContent', 'countTokens'] },
    { name: 'models/text-embedding-a', supportedGenerationMethods: ['embedContent'] },
    { name: 'models/gemini-of-no-methods' },
    { supportedGenerationMethods: ['generateContent'] },
  ],
  nextPageToken: 'second',
}
const LAST_PAGE = { models: [{ name: 'models/gemini-b', supportedGenerationMethods: ['generateContent'] }] }

describeProvider({
  plugin: gemini,
  config: ({ origin }) => ({ baseUrl: origin, apiKey: new Secret('AIza-canary-31c9'), facts: { 'gemini-able': ABLE } }),
  model: 'gemini-able',
  requests: {
    file: new URL('requests.http', import.meta.url),
    asked: {
      ...RARE_REQUESTS,
      ...ASKED,
      ...askedOf(['gemini-2.0-flash', 'gemini-2.5-pro', 'gemini-2.5-flash', 'gemini-3-pro', 'gemini-3.6-flash', 'unlisted']),
    },
    endpoints: ENDPOINTS,
    configured: CONFIGURED,
  },
  scenarios,
  errors,
  midStreamError,
  endpoints,
  discovery: {
    answers: ({ path }) => json(path.includes('pageToken=second') ? LAST_PAGE : FIRST_PAGE),
    lists: ['gemini-a', 'gemini-b'],
  },

  embeddings: {
    asked: { model: 'gemini-embedding-001' },
    input: ['Hello', 'Wörld'],
    whole: { embeddings: VECTORS.map((values) => ({ values })), usageMetadata: { promptTokenCount: 4 } },
    says: { vectors: VECTORS, tokens: 4 },
  },
})
