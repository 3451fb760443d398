import { describeProvider, type EmbeddingsFixture, json } from 'unified-model-gateway/plugin/testing'
import vertex from '../../../../plugins/providers/vertex/index.ts'
import { askedOf } from '../../../support/asked-models.ts'
import * as claude from '../anthropic/scenarios.ts'
import * as gemini from '../gemini/scenarios.ts'
import { onGoogleCloud } from './google-cloud.ts'

const lists = { google: ['gemini-2.5-pro', 'imagen-4', 'gemini-embedding-001'], anthropic: ['claude-opus-4-6'] }

/** Both kinds of models have the same addresses. */
const google = {
  plugin: vertex,
  config: ({ origin }: { readonly origin: string }) => ({
    project: 'acme-ai',
    region: 'us-east5',
    baseUrl: origin,
    facts: { 'gemini-able': gemini.ABLE },
  }),
  discovery: {
    answers: ({ path }: { readonly path: string }) => {
      const publisher = path.includes('/publishers/google/') ? 'google' : 'anthropic'
      return json({ publisherModels: lists[publisher].map((name) => ({ name: `publishers/${publisher}/models/${name}` })) })
    },
    lists: ['gemini-2.5-pro', 'claude-opus-4-6'],
  },
}

const VECTORS = [
  [0.25, -0.5, 1],
  [0.125, 0, -1],
]

const predicted = {
  asked: { model: 'text-embedding-005' },
  input: ['Hello', 'Wörld'],
  whole: {
    predictions: VECTORS.map((values) => ({ embeddings: { values, statistics: { token_count: 2, truncated: false } } })),
    metadata: { billableCharacterCount: 10 },
  },
  says: { vectors: VECTORS, tokens: 4 },
} satisfies EmbeddingsFixture

describe('vertex', () => {
  onGoogleCloud()

  const title = 'vertex, a Gemini'
  describeProvider({
    ...google,
    title,
    model: 'gemini-able',
    requests: { file: new URL('gemini-requests.http', import.meta.url), asked: askedOf(['gemini-2.5-flash', 'gemini-3-pro']) },
    ...gemini,
    embeddings: predicted,
  })

  const embeddings = { absent: 'no Claude embeds' }
  describeProvider({
    ...google,
    title: 'vertex, a Claude',
    model: 'claude-haiku-4-5@20251001',
    requests: {
      file: new URL('claude-requests.http', import.meta.url),
      asked: askedOf(['claude-opus-4-8', 'claude-sonnet-4@20250514']),
    },
    ...claude,
    embeddings,
  })
})
