// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} is the syntax of routes.yaml
import { expect } from 'chai'
import { json, type ScriptedUpstream, scriptedUpstream } from '../../../../core/testing/kit.ts'
import { startTestGateway, type TestGateway } from '../../../support/gateway.ts'

const RESULTS = [
  { index: 1, relevance_score: 0.75 },
  { index: 0, relevance_score: 0.25 },
]
const RANKING = { id: 'r-1', results: RESULTS, meta: { billed_units: { search_units: 1 } } }
const ASKED = { model: 'cohere/rerank-v4', query: 'fox', documents: ['a dog', { text: 'a fox' }] }

describe('cohere: POST /v1/rerank', () => {
  let gateway: TestGateway
  let upstream: ScriptedUpstream

  before(async () => {
    upstream = await scriptedUpstream()
    gateway = await startTestGateway({
      env: { KEY: 'cohere-key' },
      routes: {
        chain: [{ plugin: 'auth' }],
        namespaces: {
          cohere: { provider: 'cohere', breaker: false, config: { apiKey: '${env:KEY}', baseUrl: upstream.origin } },
        },
      },
    })
  })

  after(async () => {
    await gateway?.stop()
    await upstream?.close()
  })

  const post = (more: object = {}) => gateway.fetch('/v1/rerank', { json: { ...ASKED, ...more } })

  it('ranks texts by /v2/rerank', async () => {
    const sent = upstream.reply(json(RANKING))
    const got = await post({ top_n: 2, max_tokens_per_doc: 99, user: 'ada' })
    expect(await got.json()).to.deep.equal({ object: 'list', model: 'cohere/rerank-v4', ...RANKING })
    expect(got.headers.get('x-umg-params-dropped')).to.equal('user')
    const { path, headers, json: body } = await sent
    expect([path, headers.authorization]).to.deep.equal(['/v2/rerank', 'Bearer cohere-key'])
    const documents = ['a dog', 'a fox']
    expect(body()).to.deep.equal({ model: 'rerank-v4', query: 'fox', documents, top_n: 2, max_tokens_per_doc: 99 })
  })

  it('adds the documents if the client asks for them', async () => {
    upstream.reply(json(RANKING))
    const { results } = (await (await post({ return_documents: true })).json()) as { readonly results: unknown }
    expect(results).to.deep.equal([
      { ...RESULTS[0], document: { text: 'a fox' } },
      { ...RESULTS[1], document: { text: 'a dog' } },
    ])
  })

  it('is estimated if only searches are billed, and counted if tokens are reported', async () => {
    for (const [meta, estimated] of [
      [RANKING.meta, true],
      [{ tokens: { input_tokens: 321 } }, false],
    ] as const) {
      upstream.reply(json({ ...RANKING, meta }))
      const id = (await post()).headers.get('x-request-id')
      const line = await gateway.logged((each) => each.id === id)
      expect(line.estimated).to.equal(estimated)
      if (!estimated) expect(line.tokens).to.deep.equal({ input: 321, output: 0 })
    }
  })

  it('refuses a document that is no text, by its name', async () => {
    const refused = await post({ documents: ['a', { title: 'b' }] })
    const { error } = (await refused.json()) as { readonly error: object }
    expect(refused.status).to.equal(400)
    expect(error).to.include({ code: 'unsupported_parameter', param: 'documents[1]' })
  })

  it('is an error if the reply has no ranking', async () => {
    for (const results of [undefined, 'none', [{}], [{ index: 0 }], [null]]) {
      upstream.reply(json({ results }))
      expect((await post()).status).to.equal(502)
    }
  })
})
