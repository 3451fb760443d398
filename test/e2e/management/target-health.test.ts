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
      return json(path.endsWith('/models') ? { object: 'list', data: [] } : openai.whole({ text: ['Hi'] }))
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

  interface Shown {
    readonly model: string
    readonly recent?: { readonly attempts: number; readonly failures: number; readonly since: string }
    readonly last_error?: { readonly at: string; readonly code: string; readonly message: string; readonly status?: number }
  }

  interface ShownNamespace {
    readonly name: string
    readonly discovery_error?: { readonly at: string; readonly cause: string }
    readonly routes: readonly { readonly targets: readonly Shown[] }[]
  }

  const namespaces = async () => (await operator.get('/routes')).body.namespaces as readonly ShownNamespace[]

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

  it('has the evidence: how many failed, and when and why the last one did', async () => {
    const before = Date.now()
    for (const model of ['broken/m', 'works/m'])
      await (await gateway.fetch('/v1/chat/completions', { json: { ...ask(openai), model } })).text()
    const targets = (await namespaces())[0]!.routes[0]!.targets
    const [works, strict, broken, idle] = targets
    for (const { recent, last_error } of [works!, strict!]) {
      expect(recent).to.include({ failures: 0 })
      expect(last_error).to.equal(undefined)
    }
    expect(idle).to.not.have.any.keys('recent', 'last_error')
    const { attempts, failures, since } = broken!.recent!
    expect([attempts, failures]).to.deep.equal([attempts, attempts])
    expect(attempts).to.be.at.least(2)
    expect(Date.parse(since)).to.be.at.most(before)
    const { at, ...why } = broken!.last_error!
    expect(why).to.deep.equal({
      code: 'upstream_error',
      message: 'The upstream had an error while processing your request.',
      status: 500,
    })
    expect(Date.parse(at)).to.be.within(before - 100, Date.now())
  })

  it('has why the models of a namespace could not be listed, until they are', async () => {
    const failed = async () => (await namespaces()).filter((each) => each.discovery_error !== undefined)
    await (await gateway.fetch('/v1/models')).text()
    const found = await failed()
    expect(found.map(({ name, discovery_error }) => [name, discovery_error!.cause])).to.have.deep.members([
      ['broken', 'UpstreamError 500'],
      ['strict', 'UpstreamError 400'],
    ])
  })
})
