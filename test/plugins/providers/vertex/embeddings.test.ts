import { GoogleGenAI } from '@google/genai'
import { expect } from 'chai'
import type { Provider } from 'unified-model-gateway/plugin'
import { json, scriptedUpstream } from 'unified-model-gateway/plugin/testing'
import { embed, embeddingsIn, embedRefusal } from '../../../support/embed.ts'
import { onGoogleCloud } from './google-cloud.ts'
import { vertex } from './vertex.ts'

/** The models of both methods; the second takes one text a request. */
const ASKED = [
  ['text-embedding-005', ['Hello', 'Grüße, 世界']],
  ['gemini-embedding-001', ['Hello']],
  ['gemini-embedding-2', ['Hello']],
] as const

describe('vertex: embeddings', () => {
  onGoogleCloud()
  let provider: Provider

  beforeEach(async () => {
    provider = await vertex({ region: 'us-east5' })
  })

  for (const [model, input] of ASKED) {
    it(`of ${model} are requested as by Google's SDK`, async () => {
      const google = await scriptedUpstream()
      const asked = google.reply(json({ predictions: [] }))
      const sdk = new GoogleGenAI({ vertexai: true, apiKey: 'k', httpOptions: { baseUrl: google.origin } })
      await sdk.models.embedContent({ model, contents: [...input], config: { outputDimensionality: 256 } })
      const theirs = await asked
      await google.close()
      const ours = await embed(provider, model, { input, dimensions: 256 })
      const methodOf = (path: string) => path.slice(path.lastIndexOf('/'))
      expect([methodOf(ours.path), JSON.parse(String(ours.body))]).to.deep.equal([methodOf(theirs.path), theirs.json()])
    })
  }

  it('of several texts are refused if the model takes one', async () => {
    expect(await embedRefusal(provider, 'gemini-embedding-2', { input: ['a', 'b'] })).to.include({
      row: 'unsupported_parameter',
      param: 'input',
    })
  })

  it('of a Claude are refused', async () => {
    expect(await embedRefusal(provider, 'claude-opus-4-6', { input: 'a' })).to.include({ row: 'unsupported_endpoint' })
  })

  it('have the number of input tokens if Google reports it', () => {
    const prediction = (token_count?: number) => ({ embeddings: { values: [0.5], statistics: { token_count } } })
    const usageOf = (body: object) => (embeddingsIn(provider, body) as { usage?: object }).usage
    expect(usageOf({ predictions: [prediction(2), prediction(3)] })).to.deep.equal({ prompt_tokens: 5 })
    expect(usageOf({ predictions: [prediction(2), prediction()] })).to.equal(undefined)
    expect(usageOf({ embedding: { values: [0.5] }, usageMetadata: { promptTokenCount: 4 } })).to.deep.equal({ prompt_tokens: 4 })
    expect(usageOf({ embedding: { values: [0.5] } })).to.equal(undefined)
  })
})
