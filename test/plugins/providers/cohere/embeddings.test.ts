import { expect } from 'chai'
import { CohereClientV2 } from 'cohere-ai'
import { json, scriptedUpstream } from 'unified-model-gateway/plugin/testing'
import { Handlers } from '../../../../core/routing/handler.ts'
import { embed, embedded, embeddingsIn, embedRefusal } from '../../../support/embed.ts'
import { cohere } from './support.ts'

const TEXTS = ['Hello', 'Grüße, 世界']

describe('cohere: embeddings', () => {
  it("are requested as by Cohere's SDK", async () => {
    const upstream = await scriptedUpstream()
    const asked = upstream.reply(json({ id: '1', embeddings: { float: [] }, texts: [], response_type: 'embeddings_by_type' }))
    const sdk = new CohereClientV2({ token: 't', environment: upstream.origin })
    const inputType = 'search_query'
    await sdk.embed({ model: 'embed-v4.0', texts: TEXTS, inputType, embeddingTypes: ['float'], outputDimension: 512 })
    const theirs = await asked
    await upstream.close()
    const body = { input: TEXTS, dimensions: 512, input_type: inputType }
    const ours = await embed(await cohere({ baseUrl: upstream.origin }), 'embed-v4.0', body)
    expect([ours.path, JSON.parse(String(ours.body))]).to.deep.equal([theirs.path, theirs.json()])
  })

  it('have the input_type search_document by default', async () => {
    expect(await embedded(await cohere(), 'embed-v4.0', { input: 'Hello', input_type: null })).to.deep.equal({
      model: 'embed-v4.0',
      texts: ['Hello'],
      input_type: 'search_document',
      embedding_types: ['float'],
    })
  })

  it('with an unknown input_type are refused with a list of the known ones', async () => {
    const { message, ...refusal } = await embedRefusal(await cohere(), 'embed-v4.0', { input: 'x', input_type: 'poem' })
    expect(refusal).to.deep.equal({ status: 400, row: 'invalid_value', param: 'input_type' })
    expect(message).to.contain('search_document, search_query, classification, clustering')
  })

  it('of lists of tokens are refused without a request', async () => {
    expect(await embedRefusal(await cohere(), 'e', { input: [46_713] })).to.include({
      row: 'unsupported_parameter',
      param: 'input',
    })
  })

  it('of texts that are too long are refused with the param input', async () => {
    const read = new Handlers(await cohere()).of('embeddings', 'embed-v4.0')!.error!
    const body = JSON.stringify({ message: 'too many tokens: size limit exceeded by 1200 tokens.' })
    expect(read({ status: 400, headers: {}, body })).to.include({ code: 'context_length_exceeded', param: 'input' })
  })

  it('have the number of input tokens, or of billed ones', async () => {
    const provider = await cohere()
    const usageOf = (meta?: object) =>
      (embeddingsIn(provider, { embeddings: { float: [[1]] }, ...(meta && { meta }) }) as { usage?: object }).usage
    expect(usageOf({ tokens: { input_tokens: 5 }, billed_units: { input_tokens: 4 } })).to.deep.equal({ prompt_tokens: 5 })
    expect(usageOf({ billed_units: { input_tokens: 4 } })).to.deep.equal({ prompt_tokens: 4 })
    expect(usageOf({ billed_units: { images: 1 } })).to.equal(undefined)
    expect(usageOf()).to.equal(undefined)
  })
})
