import { expect } from 'chai'
import { json, type ScriptedUpstream, scriptedUpstream } from '../../../core/testing/kit.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { ask } from '../sdk/dialect.ts'
import { openai } from '../sdk/openai-dialect.ts'
import { ApiClient } from './api-client.ts'

describe('The health of a target in the routing table', () => {
  let upstream: ScriptedUpstream
  let gateway: TestGateway
  let operator: ApiClient

  before(async () => {
    upstream = await scriptedUpstream()
    upstream.on(({ path }) => {
      if (path.startsWith('/broken')) return json({ error: { message: 'No.' } }, { status: 500 })
      if (path.startsWith('/strict')) return json({ error: { message: 'No.' } }, { status: 400 })
      return json(openai.whole({ text: ['Hi'] }))
    })
    const open = (path: string) => ({ provider: 'openai-compatible', config: { baseUrl: `${upstream.origin}${path}/v1` } })
    gateway = await startTestGateway({
      routes: {
        chain: [{ plugin: 'auth' }],
        namespaces: {
          works: open('/works'),
          strict: open('/strict'),
          broken: open('/broken'),
          idle: open('/idle'),
          acme: { models: { all: { targets: ['works/m', 'strict/m', 'broken/m', 'idle/m'].map((model) => ({ model })) } } },
        },
      },
    })
    operator = new ApiClient(gateway.url, await gateway.key({ kind: 'admin' }))
  })

  after(async () => {
    await gateway?.stop()
    await upstream?.close()
  })

  async function lastCalls(): Promise<Readonly<Record<string, unknown>>> {
    const { body } = await operator.get('/routes')
    const acme = (body.namespaces as { name: string; routes: { targets: { model: string; last_call?: string }[] }[] }[])[0]!
    return Object.fromEntries(acme.routes[0]!.targets.map(({ model, last_call }) => [model, last_call]))
  }

  it('says that none was called, and how the last call of each ended', async () => {
    expect(await lastCalls()).to.deep.equal({
      'works/m': undefined,
      'strict/m': undefined,
      'broken/m': undefined,
      'idle/m': undefined,
    })
    for (const model of ['works/m', 'strict/m', 'broken/m'])
      await (await gateway.fetch('/v1/chat/completions', { json: { ...ask(openai), model } })).text()
    expect(await lastCalls()).to.deep.equal({
      'works/m': 'succeeded',
      // The caller's own mistake.
      'strict/m': 'succeeded',
      'broken/m': 'failed',
      'idle/m': undefined,
    })
  })
})
