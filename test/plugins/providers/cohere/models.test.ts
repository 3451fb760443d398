import { expect } from 'chai'
import { Value } from 'typebox/value'
import { Type } from 'unified-model-gateway/plugin'
import { json, type ReceivedRequest, type ScriptedUpstream, scriptedUpstream } from 'unified-model-gateway/plugin/testing'
import shipped from '../../../../plugins/providers/cohere/models.json' with { type: 'json' }
import { Facts, factsOf, type ModelFacts } from '../../../../plugins/providers/cohere/models.ts'
import { namesIn, providerPage } from '../../../support/provider-page.ts'
import { cohere } from './support.ts'

/** Facts by Cohere's names of models. */
const KNOWN: Readonly<Record<string, ModelFacts>> = {
  'command-a-plus-05-2026': { thinking: true, strictTools: true, toolChoice: true, maxTokens: 64_000 },
  'command-a-reasoning-08-2025': { thinking: true, strictTools: false, toolChoice: true, maxTokens: 32_000 },
  'command-a-vision-07-2025': { thinking: false, strictTools: false, toolChoice: true, maxTokens: 8000 },
  'command-a-03-2025': { thinking: false, strictTools: true, toolChoice: true, maxTokens: 8000 },
  'command-r7b-12-2024': { thinking: false, strictTools: false, toolChoice: true, maxTokens: 4000 },
  'command-r-plus-08-2024': { thinking: false, strictTools: true, toolChoice: false, maxTokens: 4000 },
  'c4ai-aya-expanse-32b': { thinking: false, strictTools: false, toolChoice: false, maxTokens: 4000 },
  'a-model-yet-to-come': { thinking: true, strictTools: false, toolChoice: true, maxTokens: 32_000 },
}

describe('cohere: facts about models', () => {
  for (const [model, facts] of Object.entries(KNOWN)) {
    it(model, () => expect(factsOf(model)).to.deep.equal(facts))
  }

  it('models.json matches the schema', () => {
    const table = Type.Record(Type.String(), Type.Partial(Facts, { additionalProperties: false }))
    expect([...Value.Errors(table, shipped)]).to.deep.equal([])
  })

  it('are all on the docs page', () => {
    expect(namesIn(providerPage('cohere'), 'fact')).to.deep.equal(Object.keys(Facts.properties))
  })

  it("come from the operator's rows first", () => {
    expect(factsOf('command-a-03-2025', { 'command-*': { thinking: true } })).to.include({ thinking: true, maxTokens: 8000 })
  })
})

describe('cohere: discovery', () => {
  let upstream: ScriptedUpstream

  beforeEach(async () => {
    upstream = await scriptedUpstream()
  })

  afterEach(() => upstream?.close())

  async function discover() {
    return (await cohere({ baseUrl: upstream.origin })).models!(new AbortController().signal)
  }

  const answer = (reply: (request: ReceivedRequest) => unknown) => upstream.on((request) => json(reply(request)))

  it('the chat models are read with the credential', async () => {
    const models = [
      { name: 'command-a-03-2025', endpoints: ['chat'], context_length: 256_000 },
      { name: 'command-r7b-12-2024' },
      null,
      { name: 3 },
      { name: '' },
    ]
    answer(() => ({ models }))
    expect(await discover()).to.deep.equal([
      { id: 'command-a-03-2025', owned_by: 'cohere', context_length: 256_000 },
      { id: 'command-r7b-12-2024', owned_by: 'cohere' },
    ])
    expect(upstream.requests).to.have.length(1)
    const { method, path, headers } = upstream.requests[0]!
    expect(`${method} ${path}`).to.equal('GET /v1/models?endpoint=chat&page_size=1000')
    expect(headers.authorization).to.equal('Bearer cohere-api-key-of-test')
  })

  it('all pages are read', async () => {
    answer(({ path }) =>
      path.endsWith('&page_token=a%2Fb%2B%3D')
        ? { models: [{ name: 'two' }], next_page_token: '' }
        : { models: [{ name: 'one' }], next_page_token: 'a/b+=' },
    )
    expect((await discover()).map(({ id }) => id)).to.deep.equal(['one', 'two'])
  })

  it('an endless list, or one that repeats its cursor, ends', async () => {
    answer(() => ({ next_page_token: `page-${upstream.requests.length}` }))
    await discover()
    expect(upstream.requests).to.have.length(30)
    answer(() => ({ next_page_token: 'same' }))
    await discover()
    expect(upstream.requests).to.have.length(30 + 2)
  })

  it('the error for a refused credential does not contain it', async () => {
    upstream.on(() => json({ message: 'invalid api token' }, { status: 401 }))
    const failure: unknown = await discover().catch((error: unknown) => error)
    expect(String(failure)).to.match(/status 401/)
    expect(String(failure)).to.not.include('cohere-api-key')
  })
})
