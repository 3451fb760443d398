import { expect } from 'chai'
import { head, hold, json, type ScriptedUpstream, scriptedUpstream } from 'unified-model-gateway/plugin/testing'
import { anthropic } from './support.ts'

describe('anthropic: discovery', () => {
  let upstream: ScriptedUpstream

  beforeEach(async () => {
    upstream = await scriptedUpstream()
  })

  afterEach(() => upstream?.close())

  async function discover(signal = new AbortController().signal) {
    return (await anthropic({ baseUrl: upstream.origin })).models!(signal)
  }

  it('all pages are read, as the key', async () => {
    const pages: Record<string, unknown> = {
      '/v1/models?limit=1000': {
        data: [{ type: 'model', id: 'claude-opus-5', created_at: '2026-07-24T00:00:00Z', max_input_tokens: 1_000_000 }],
        has_more: true,
        last_id: 'claude-opus-5',
      },
      '/v1/models?limit=1000&after_id=claude-opus-5': {
        data: [{ id: 'claude-haiku-4-5', created_at: '1970-01-01T00:00:00Z', max_input_tokens: null }, null, { id: 3 }],
        has_more: false,
        last_id: 'claude-haiku-4-5',
      },
    }
    upstream.on(({ path }) => json(pages[path]))
    expect(await discover()).to.deep.equal([
      { id: 'claude-opus-5', owned_by: 'anthropic', created: 1_784_851_200, context_length: 1_000_000 },
      { id: 'claude-haiku-4-5', owned_by: 'anthropic' },
    ])
    expect(upstream.requests[0]!.headers).to.include({ 'x-api-key': 'sk-ant-very-secret', 'anthropic-version': '2023-06-01' })
  })

  it('a list without an end is cut off', async () => {
    upstream.on(() => json({ data: [], has_more: true, last_id: `model-${upstream.requests.length}` }))
    await discover()
    expect(upstream.requests).to.have.length(30)
  })

  it('a list that repeats itself is cut off at once', async () => {
    upstream.on(() => json({ data: [], has_more: true, last_id: 'same' }))
    await discover()
    expect(upstream.requests).to.have.length(2)
  })

  it('a refused key says what to check, and not the key', async () => {
    upstream.reply(json({ error: {} }, { status: 401 }))
    const failure: unknown = await discover().catch((error: unknown) => error)
    expect(String(failure)).to.match(/\/v1\/models\?limit=1000: status 401; check the API key$/)
    expect(String(failure)).to.not.include('sk-ant')
  })

  it('a redirect is not followed: the key would travel', async () => {
    upstream.on(() => [head(302, { location: '/elsewhere', 'content-length': '0' })])
    const failure: unknown = await discover().catch((error: unknown) => error)
    expect(failure).to.be.instanceOf(Error)
    expect(upstream.requests).to.have.length(1)
  })

  it('stops when nobody waits for it any more', async () => {
    const client = new AbortController()
    const stalled = hold()
    upstream.reply([stalled])
    void stalled.reached.then(() => client.abort())
    const failure: unknown = await discover(client.signal).catch((error: unknown) => error)
    expect(String(failure)).to.match(/: AbortError$/)
  })
})
