import { GoogleGenAI } from '@google/genai'
import { expect } from 'chai'
import { json, scriptedUpstream } from 'unified-model-gateway/plugin/testing'
import { embed, embedded, embeddingsIn, embedRefusal } from '../../../support/embed.ts'
import { gemini } from './gemini.ts'

const TEXTS = ['Hello', 'Grüße, 世界']

describe('gemini: embeddings', () => {
  it("are requested as by Google's SDK", async () => {
    const google = await scriptedUpstream()
    const asked = google.reply(json({ embeddings: [] }))
    const sdk = new GoogleGenAI({ apiKey: 'k', httpOptions: { baseUrl: google.origin } })
    await sdk.models.embedContent({ model: 'gemini-embedding-001', contents: TEXTS, config: { outputDimensionality: 768 } })
    const theirs = await asked
    await google.close()
    const ours = await embed(await gemini({ baseUrl: google.origin }), 'gemini-embedding-001', { input: TEXTS, dimensions: 768 })
    const { requests } = theirs.json() as { requests: { content: { role?: string } }[] }
    // The SDK sends a role, which embeddings do not need.
    for (const { content } of requests) delete content.role
    const methodOf = (path: string) => path.slice(path.lastIndexOf('/'))
    expect([methodOf(ours.path), JSON.parse(String(ours.body))]).to.deep.equal([methodOf(theirs.path), { requests }])
  })

  it('of one text are requested like those of several', async () => {
    const request = { model: 'models/e', content: { parts: [{ text: 'Hello' }] } }
    expect(await embedded(await gemini(), 'models/e', { input: 'Hello', dimensions: null })).to.deep.equal({
      requests: [request],
    })
  })

  it('of lists of tokens are refused without a request', async () => {
    for (const input of [[46_713], [[46_713], [46_714]]]) {
      expect(await embedRefusal(await gemini(), 'e', { input })).to.include({ row: 'unsupported_parameter', param: 'input' })
    }
  })

  it('of a model with an invalid name are refused', async () => {
    expect(await embedRefusal(await gemini(), '../secrets', { input: 'x' })).to.include({ row: 'model_not_found' })
  })

  it('have the number of input tokens if Google reports it', async () => {
    const provider = await gemini()
    const embeddings = [{ values: [0.5] }]
    const data = [{ embedding: [0.5] }]
    expect(embeddingsIn(provider, { embeddings })).to.deep.equal({ data })
    expect(embeddingsIn(provider, { embeddings, usageMetadata: { promptTokenCount: 3 } })).to.deep.equal({
      data,
      usage: { prompt_tokens: 3 },
    })
  })
})
