import { expect } from 'chai'
import type { Model } from 'unified-model-gateway/plugin'
import { head, hold, json, reply, type ScriptedUpstream, scriptedUpstream } from 'unified-model-gateway/plugin/testing'
import { createProvider } from './provider.ts'

describe('openai-compatible: the models of an upstream', () => {
  let upstream: ScriptedUpstream

  beforeEach(async () => {
    upstream = await scriptedUpstream()
  })

  afterEach(() => upstream?.close())

  const list = async (signal = new AbortController().signal): Promise<readonly Model[]> =>
    createProvider({ baseUrl: `${upstream.origin}/v1`, apiKey: 'sk-upstream', headers: { 'x-team': 'a' } }).models!(signal)

  async function failure(promise: Promise<unknown>): Promise<Error> {
    try {
      await promise
    } catch (error) {
      return error as Error
    }
    throw new Error('it did not fail')
  }

  it('are asked for with the key and the configured headers, and listed with what is known of them', async () => {
    const data = [
      { id: 'a', object: 'model', created: 1687882411, owned_by: 'openai', permission: [] },
      { id: 'meta/llama', context_window: 131072 },
      { id: 'qwen', max_model_len: 4096, created: -1, owned_by: null },
    ]
    upstream.reply(json({ object: 'list', data }))
    expect(await list()).to.deep.equal([
      { id: 'a', created: 1687882411, owned_by: 'openai' },
      { id: 'meta/llama', context_length: 131072 },
      { id: 'qwen', context_length: 4096 },
    ])
    const { method, path, headers } = upstream.requests[0]!
    expect(`${method} ${path}`).to.equal('GET /v1/models')
    expect(headers).to.include({ authorization: 'Bearer sk-upstream', 'x-team': 'a', accept: 'application/json' })
  })

  it('may come as a bare list', async () => {
    upstream.reply(json([{ id: 'a', context_length: 8192 }]))
    expect(await list()).to.deep.equal([{ id: 'a', context_length: 8192 }])
  })

  it('without a usable id are left out', async () => {
    upstream.reply(json({ data: [{ id: 7 }, null, 'a', { id: '' }, { id: 'b' }] }))
    expect(await list()).to.deep.equal([{ id: 'b' }])
  })

  it('that are refused are an error with the address and the status, and without the key or the reply', async () => {
    upstream.reply(json({ error: { message: 'bad key sk-upstream' } }, { status: 401 }))
    const { message } = await failure(list())
    expect(message).to.include(`GET ${upstream.origin}/v1/models: status 401`).and.not.include('sk-upstream')
  })

  for (const body of ['', '<html>', '{}', 'null', '7', '{"data":{}}']) {
    it(`${body || 'an empty reply'} is no list`, async () => {
      upstream.reply(reply([body]))
      expect(await failure(list())).to.be.an('error')
    })
  }

  it('are not looked for behind a redirect, which would carry the key along', async () => {
    upstream.on(() => [head(302, { location: '/elsewhere', 'content-length': '0' })])
    expect((await failure(list())).message).to.include('302')
    expect(upstream.requests.map(({ path }) => path)).to.deep.equal(['/v1/models'])
  })

  it('are given up when the signal aborts', async () => {
    const client = new AbortController()
    const stalled = hold()
    const received = upstream.reply([stalled])
    void stalled.reached.then(() => client.abort())
    expect(await failure(list(client.signal))).to.be.an('error')
    await (await received).closed
  })
})
