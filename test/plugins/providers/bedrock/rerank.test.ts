// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} is the syntax of routes.yaml
import { expect } from 'chai'
import { json, type ScriptedUpstream, scriptedUpstream } from '../../../../core/testing/kit.ts'
import { startTestGateway, type TestGateway } from '../../../support/gateway.ts'

const RESULTS = [
  { index: 1, relevance_score: 0.75 },
  { index: 0, relevance_score: 0.25 },
]
const ASKED = { query: 'fox', documents: ['a dog', { text: 'a fox' }], top_n: 2 }
const SENT = { query: 'fox', documents: ['a dog', 'a fox'], top_n: 2 }

describe('bedrock: POST /v1/rerank', () => {
  let gateway: TestGateway
  let upstream: ScriptedUpstream

  before(async () => {
    upstream = await scriptedUpstream()
    gateway = await startTestGateway({
      env: { KEY: 'bedrock-key' },
      routes: {
        chain: [{ plugin: 'auth' }],
        namespaces: {
          aws: {
            provider: 'bedrock',
            breaker: false,
            config: { region: 'us-east-1', apiKey: '${env:KEY}', baseUrl: upstream.origin },
          },
        },
        prices: { models: { 'aws/*': { input: 0, output: 0, request: 0.002 } } },
      },
    })
  })

  after(async () => {
    await gateway?.stop()
    await upstream?.close()
  })

  const post = (model: string, more: object = {}) =>
    gateway.fetch('/v1/rerank', { json: { ...ASKED, model: `aws/${model}`, ...more } })

  for (const [model, path, body] of [
    ['cohere.rerank-v3-5:0', '/model/cohere.rerank-v3-5%3A0/invoke', { ...SENT, max_tokens_per_doc: 99, api_version: 2 }],
    ['amazon.rerank-v1:0', '/model/amazon.rerank-v1%3A0/invoke', SENT],
  ] as const) {
    it(`ranks texts by InvokeModel of ${model}`, async () => {
      const sent = upstream.reply(json({ results: RESULTS }))
      const more = 'max_tokens_per_doc' in body ? { max_tokens_per_doc: body.max_tokens_per_doc } : {}
      const got = await post(model, { user: 'ada', return_documents: true, ...more })
      expect(await got.json()).to.deep.equal({
        object: 'list',
        model: `aws/${model}`,
        results: [
          { ...RESULTS[0], document: { text: 'a fox' } },
          { ...RESULTS[1], document: { text: 'a dog' } },
        ],
      })
      expect(got.headers.get('x-umg-params-dropped')).to.equal('user')
      const request = await sent
      expect([request.path, request.headers.authorization]).to.deep.equal([path, 'Bearer bedrock-key'])
      expect(request.json()).to.deep.equal(body)
    })
  }

  it("costs what a request costs, with the tokens of Bedrock's header or else an estimate", async () => {
    for (const tokens of [undefined, '321']) {
      const headers: Readonly<Record<string, string>> = tokens === undefined ? {} : { 'x-amzn-bedrock-input-token-count': tokens }
      upstream.reply(json({ results: RESULTS }, { headers }))
      const id = (await post('amazon.rerank-v1:0')).headers.get('x-request-id')
      const line = await gateway.logged((each) => each.id === id)
      expect(line).to.include({ costUsd: 0.002, estimated: tokens === undefined })
      if (!line.estimated) expect(line.tokens).to.deep.equal({ input: 321, output: 0 })
    }
  })

  for (const [what, model, more, error] of [
    ['another model', 'us.amazon.nova-2-lite-v1:0', {}, { code: 'unsupported_endpoint', param: 'model' }],
    ["Cohere's limit for Amazon's model", 'amazon.rerank-v1:0', { max_tokens_per_doc: 9 }, { param: 'max_tokens_per_doc' }],
    ['a document that is no text', 'amazon.rerank-v1:0', { documents: [{ title: 'b' }] }, { param: 'documents[0]' }],
  ] as const) {
    it(`refuses ${what}, by its name`, async () => {
      const before = upstream.requests.length
      const refused = await post(model, more)
      expect([refused.status, upstream.requests.length]).to.deep.equal([400, before])
      expect(((await refused.json()) as { error: object }).error).to.include(error)
    })
  }

  it("has Bedrock's errors, and an error for a reply without a ranking", async () => {
    const headers = { 'x-amzn-errortype': 'ThrottlingException' }
    upstream.reply(json({ message: 'Too many requests' }, { status: 429, headers }))
    expect((await post('amazon.rerank-v1:0')).status).to.equal(429)
    upstream.reply(json({ results: 'none' }))
    expect((await post('amazon.rerank-v1:0')).status).to.equal(502)
  })
})
