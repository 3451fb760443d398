import { expect } from 'chai'
import OpenAI from 'openai'
import { json } from '../../../core/testing/kit.ts'
import { closedOrigin } from '../../support/closed-port.ts'
import { anthropic } from './anthropic-dialect.ts'
import { caught } from './caught.ts'
import { type Fixture, startFixture } from './fixture.ts'
import { openai } from './openai-dialect.ts'

const OPEN_MODELS = [
  { id: 'gpt-x', object: 'model', created: 1_715_367_049, owned_by: 'acme', permission: ['secret'] },
  { id: 'meta/llama-x', object: 'model', created: 1_700_000_000, owned_by: 'meta', context_length: 131_072 },
]

const CLAUDE_MODELS = {
  data: [{ type: 'model', id: 'claude-sonnet-4-6', display_name: 'Sonnet', created_at: '2026-02-19T00:00:00Z' }],
  has_more: false,
}

describe('The list of models in the SDK', () => {
  let fixture: Fixture

  before(async () => {
    fixture = await startFixture({
      others: {
        local: { provider: 'sandbox', models: ['named-x', 'any-*'] },
        broken: { provider: 'openai-compatible', config: { baseUrl: await closedOrigin() } },
      },
    })
    fixture.upstream(openai).on(() => json({ object: 'list', data: OPEN_MODELS }))
    fixture.upstream(anthropic).on(() => json(CLAUDE_MODELS))
  })

  after(() => fixture?.stop())

  it('has every model of every reachable upstream, under its namespace', async () => {
    const ids: string[] = []
    for await (const model of fixture.gateway.openai().models.list()) ids.push(model.id)
    expect(ids).to.have.members(['open/gpt-x', 'open/meta/llama-x', 'claude/claude-sonnet-4-6', 'local/named-x'])
  })

  it("has models in OpenAI's shape, not the upstream's", async () => {
    const reply = await fixture.gateway.fetch('/v1/models')
    const { object, data, ...rest } = (await reply.json()) as { object: string; data: { id: string; created: number }[] }
    expect([object, rest]).to.deep.equal(['list', {}])
    expect(data).to.deep.include.members([
      { id: 'open/gpt-x', object: 'model', created: 1_715_367_049, owned_by: 'acme' },
      { id: 'open/meta/llama-x', object: 'model', created: 1_700_000_000, owned_by: 'meta', context_length: 131_072 },
    ])
    const claude = data.find(({ id }) => id === 'claude/claude-sonnet-4-6')
    expect(claude).to.include({ object: 'model', created: 1_771_459_200, owned_by: 'anthropic', name: 'Sonnet' })
    for (const model of data) expect(model.created).to.satisfy(Number.isSafeInteger)
  })

  it('has the same entries as single models', async () => {
    const client = fixture.gateway.openai()
    for await (const listed of client.models.list()) {
      expect({ ...(await client.models.retrieve(listed.id)) }).to.deep.equal({ ...listed })
    }
  })

  it('has no model that its upstream does not list', async () => {
    const error = await caught(fixture.gateway.openai().models.retrieve('open/gpt-none'))
    expect(error).to.be.instanceOf(OpenAI.NotFoundError)
    expect(error).to.include({ code: 'model_not_found', param: 'model' })
  })

  it('decodes an id only once', async () => {
    const { status } = await fixture.gateway.fetch('/v1/models/open%252Fgpt-x')
    expect(status).to.equal(404)
  })

  it('has only the models that the key may use', async () => {
    const client = fixture.gateway.openai(await fixture.gateway.key({ models: ['open/meta/*'] }))
    const ids = (await client.models.list()).data.map((model) => model.id)
    expect(ids).to.deep.equal(['open/meta/llama-x'])
    const [hidden, absent] = await Promise.all(['open/gpt-x', 'open/gpt-none'].map((id) => caught(client.models.retrieve(id))))
    expect(hidden).to.be.instanceOf(OpenAI.NotFoundError).and.include({ code: 'model_not_found' })
    expect(hidden!.message.replace('gpt-x', 'gpt-none')).to.equal(absent!.message)
  })

  it('is served to Open WebUI and LibreChat: GET /models with a Bearer token', async () => {
    const verify = (key: string) => fixture.gateway.fetch('/v1/models', { key, headers: { 'content-type': 'application/json' } })
    expect((await verify(fixture.gateway.liveKey)).status).to.equal(200)
    expect((await verify('sk-live-wrong')).status).to.equal(401)
  })
})
