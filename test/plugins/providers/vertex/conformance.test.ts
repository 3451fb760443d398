import { describeProvider, type EmbeddingsFixture, json } from 'unified-model-gateway/plugin/testing'
import vertex from '../../../../plugins/providers/vertex/index.ts'
import { askedOf } from '../../../support/asked-models.ts'
import * as claude from '../anthropic/scenarios.ts'
import * as gemini from '../gemini/scenarios.ts'
import { ASKED, CONFIGURED, ENDPOINTS } from './asked.ts'
import { onGoogleCloud } from './google-cloud.ts'

/** The pages of each publisher's list. */
const LISTS = {
  google: [
    [{ name: 'publishers/google/models/gemini-2.5-pro' }, { name: 'publishers/google/models/imagen-4' }, { versionId: '1' }],
    [{ name: 'gemini-3-pro', versionId: '20260101' }, { name: 'publishers/google/models/gemini-embedding-001' }],
  ],
  anthropic: [
    [{ name: 'publishers/anthropic/models/claude-opus-4-6' }, { name: 'publishers/anthropic/models/jurassic' }],
    [{ name: 'publishers/anthropic/models/claude-opus-4-8', versionId: '20260101' }],
  ],
}

/** A page of a publisher's list, unless the path says that only the other publisher has one. */
function listed({ path }: { readonly path: string }) {
  const [publisher, other] = path.includes('/publishers/google/')
    ? (['google', 'anthropic'] as const)
    : (['anthropic', 'google'] as const)
  if (path.startsWith(`/only-${other}`)) return json({ error: { code: 403, status: 'PERMISSION_DENIED' } }, { status: 403 })
  const [first, second] = LISTS[publisher]
  return json(
    path.includes('pageToken=second') ? { publisherModels: second } : { publisherModels: first, nextPageToken: 'second' },
  )
}

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
    answers: listed,
    lists: ['gemini-2.5-pro', 'gemini-3-pro', 'claude-opus-4-6', 'claude-opus-4-8@20260101'],
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
    requests: {
      file: new URL('gemini-requests.http', import.meta.url),
      asked: { ...ASKED, ...askedOf(['gemini-2.5-flash', 'gemini-3-pro']) },
      endpoints: ENDPOINTS,
      configured: CONFIGURED,
    },
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
