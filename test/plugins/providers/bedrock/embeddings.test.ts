import { expect } from 'chai'
import { Secret } from 'unified-model-gateway/plugin'
import { embed, embedded, embeddingsIn, embedRefusal } from '../../../support/embed.ts'
import { bedrock } from './support.ts'

const TITAN = 'amazon.titan-embed-text-v2:0'
const TOKENS = { 'x-amzn-bedrock-input-token-count': '7' }

describe('bedrock: embeddings', () => {
  it('of Titan are requested by InvokeModel, one text at a time', async () => {
    const { path, body } = await embed(await bedrock(), TITAN, { input: ['Grüße'], dimensions: 256 })
    expect(path).to.equal('/model/amazon.titan-embed-text-v2%3A0/invoke')
    expect(JSON.parse(String(body))).to.deep.equal({ inputText: 'Grüße', dimensions: 256 })
    const { message, ...refusal } = await embedRefusal(await bedrock(), TITAN, { input: ['a', 'b'] })
    expect(refusal).to.deep.equal({ status: 400, row: 'unsupported_parameter', param: 'input' })
    expect(message).to.contain('send them one by one')
  })

  it('have a signed request', async () => {
    const keys = {
      apiKey: undefined,
      accessKeyId: new Secret('AKIAIOSFODNN7EXAMPLE'),
      secretAccessKey: new Secret('wJalrXUtnFEMI'),
    }
    const { headers } = await embed(await bedrock(keys), TITAN, { input: 'a' })
    expect((headers.authorization as Secret).reveal()).to.match(
      /^AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE\/\d{8}\/us-east-1\/bedrock\//,
    )
  })

  it('of Cohere are requested as by its own API, without the model', async () => {
    for (const model of [
      'cohere.embed-v4:0',
      'eu.cohere.embed-v4:0',
      'arn:aws:bedrock:us-east-1::foundation-model/cohere.embed-english-v3',
    ]) {
      expect(await embedded(await bedrock(), model, { input: ['a', 'b'], dimensions: 512 })).to.deep.equal({
        texts: ['a', 'b'],
        input_type: 'search_document',
        embedding_types: ['float'],
        output_dimension: 512,
      })
    }
  })

  it('of any other model are refused', async () => {
    expect(await embedRefusal(await bedrock(), 'us.anthropic.claude-sonnet-4-6', { input: 'a' })).to.include({
      status: 400,
      row: 'unsupported_endpoint',
      param: 'model',
    })
  })

  it('with parameters that a model does not take are refused', async () => {
    const refusals: readonly (readonly [model: string, body: object, param: string])[] = [
      [TITAN, { input: [46_713] }, 'input'],
      ['cohere.embed-v4:0', { input: [[46_713]] }, 'input'],
      [TITAN, { input: 'a', input_type: 'search_query' }, 'input_type'],
    ]
    for (const [model, body, param] of refusals) {
      expect(await embedRefusal(await bedrock(), model, { ...body })).to.include({ row: 'unsupported_parameter', param })
    }
  })

  it("have the number of input tokens, of Titan's reply or of a header", async () => {
    const provider = await bedrock()
    const titan = { embedding: [0.5], embeddingsByType: { float: [0.5] } }
    const data = [{ embedding: [0.5] }]
    const seven = { data, usage: { prompt_tokens: 7 } }
    expect(embeddingsIn(provider, { ...titan, inputTextTokenCount: 3 }, TOKENS)).to.deep.equal({
      data,
      usage: { prompt_tokens: 3 },
    })
    expect(embeddingsIn(provider, titan, TOKENS)).to.deep.equal(seven)
    expect(embeddingsIn(provider, { embeddings: { float: [[0.5]] } }, TOKENS)).to.deep.equal(seven)
    expect(embeddingsIn(provider, titan, { 'x-amzn-bedrock-input-token-count': 'many' })).to.deep.equal({ data })
  })
})
