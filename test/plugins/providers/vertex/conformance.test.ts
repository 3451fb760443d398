import { describeProvider, json } from 'unified-model-gateway/plugin/testing'
import vertex from '../../../../plugins/providers/vertex/index.ts'
import { ABLE, errors, midStreamError, scenarios } from '../gemini/scenarios.ts'
import { MetadataServer } from './metadata-server.ts'

const metadata = new MetadataServer()
const lists = { google: ['gemini-2.5-pro', 'imagen-4', 'gemini-embedding-001'], anthropic: ['claude-opus-4-6'] }

describe('vertex', () => {
  after(() => metadata.leave())

  describeProvider({
    plugin: vertex,
    config({ origin }) {
      metadata.stand(origin)
      return { project: 'acme-ai', region: 'us-east5', baseUrl: origin, facts: { 'gemini-able': ABLE } }
    },
    model: 'gemini-able',
    scenarios,
    errors,
    midStreamError,
    discovery: {
      answers: ({ path }: { readonly path: string }) => {
        const publisher = path.includes('/publishers/google/') ? 'google' : 'anthropic'
        return json({ publisherModels: lists[publisher].map((name) => ({ name: `publishers/${publisher}/models/${name}` })) })
      },
      lists: ['gemini-2.5-pro', 'claude-opus-4-6'],
    },
    besides: (request) => metadata.answer(request),
  })
})
