import { expect } from 'chai'
import { type ScriptedUpstream, scriptedUpstream } from '../../../core/testing/kit.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { ask, hello } from './openai-wire.ts'
import { strangers } from './stranger-files.ts'

type Link = { readonly plugin: string; readonly config?: object; readonly when?: object }

const AUTH = { plugin: 'auth' }
const marker = (mark: string, more: Partial<Link> = {}): Link => ({ plugin: './marker.ts', config: { mark }, ...more })

describe('The chain', () => {
  let upstream: ScriptedUpstream
  let gateway: TestGateway | undefined

  before(async () => {
    upstream = await scriptedUpstream()
    upstream.on(hello)
  })

  afterEach(async () => {
    await gateway?.stop()
    gateway = undefined
  })

  after(() => upstream?.close())

  async function start(...chain: Link[]): Promise<TestGateway> {
    const up = { provider: 'openai-compatible', config: { baseUrl: `${upstream.origin}/v1` } }
    gateway = await startTestGateway({
      routes: { chain, namespaces: { up, down: up }, aliases: { 'gpt-4o': 'down/m' } },
      files: strangers('marker.ts', 'answerer.ts'),
    })
    return gateway
  }

  for (const streamed of [false, true]) {
    const kind = streamed ? 'a stream' : 'a whole reply'
    const call = (body: object = {}) => gateway!.fetch('/v1/chat/completions', { json: ask({ stream: streamed, ...body }) })

    it(`runs in the order of routes.yaml, and in reverse for ${kind}`, async () => {
      await start(AUTH, marker('a'), marker('b'))
      const reply = await call()
      expect(reply.headers.get('x-marks')).to.equal('+a+b-b-a')
      expect(await reply.text()).to.match(/lo!ba/)
    })

    it(`passes ${kind} of a link through the links before it`, async () => {
      await start(AUTH, marker('a'), { plugin: './answerer.ts' }, marker('b'))
      const reply = await call()
      expect(reply.headers.get('x-marks')).to.equal('+a-a')
      expect(await reply.text()).to.contain('"Minea"')
    })

    it(`without auth refuses ${kind}`, async () => {
      await start(marker('a'))
      const asked = upstream.requests.length
      const reply = await call()
      expect(reply.status).to.equal(401)
      expect(reply.headers.get('x-marks')).to.equal('+a-a')
      expect(upstream.requests).to.have.length(asked)
    })

    it(`refuses ${kind} of a link before auth`, async () => {
      await start(marker('a'), { plugin: './answerer.ts' }, AUTH)
      const reply = await call()
      expect(reply.status).to.equal(401)
      expect(reply.headers.get('x-marks')).to.equal('+a-a')
      expect(await reply.text()).to.not.contain('Mine')
    })
  }

  it('returns a 404 for an unknown model although a link would reply', async () => {
    const { fetch } = await start(AUTH, { plugin: './answerer.ts' })
    for (const model of ['gone/m', 'nothing']) {
      expect(await fetch('/v1/chat/completions', { json: ask({ model }) })).to.have.property('status', 404)
    }
  })

  it('fails a request for the list of models if a link replies with a completion', async () => {
    const { fetch } = await start(AUTH, { plugin: './answerer.ts' })
    expect(await fetch('/v1/models')).to.have.property('status', 500)
  })

  it('without auth lists no models', async () => {
    const { fetch } = await start()
    expect(await fetch('/v1/models')).to.have.property('status', 401)
  })

  describe('with a link for some namespaces', () => {
    const marksOf = async (path: string, json?: object) => {
      const reply = await gateway!.fetch(path, { ...(json && { json }) })
      await reply.text()
      return reply.headers.get('x-marks')
    }

    beforeEach(() => start(AUTH, marker('a'), marker('b', { when: { namespaces: ['down'] } })))

    for (const [what, model, marks] of [
      ['passes it with calls to them', 'down/m', '+a+b-b-a'],
      ['passes it with an alias that leads there', 'gpt-4o', '+a+b-b-a'],
      ['goes around it with calls elsewhere', 'up/m', '+a-a'],
    ] as const) {
      it(what, async () => {
        expect(await marksOf('/v1/chat/completions', ask({ model }))).to.equal(marks)
      })
    }

    it('skips it for the list of models', async () => {
      expect(await marksOf('/v1/models')).to.equal('+a-a')
    })

    it('skips it for an unknown model', async () => {
      expect(await marksOf('/v1/chat/completions', ask({ model: 'gone/m' }))).to.equal('+a-a')
    })
  })

  for (const streamed of [false, true]) {
    it(`serves no ${streamed ? 'stream' : 'whole reply'} from the upstream to a test key`, async () => {
      const { fetch, testKey } = await start(AUTH, marker('a'))
      const asked = upstream.requests.length
      const reply = await fetch('/v1/chat/completions', { json: ask({ stream: streamed }), key: testKey })
      expect(reply.status).to.equal(200)
      expect(await reply.text()).to.not.equal('')
      expect(reply.headers.get('x-marks')).to.equal('+a-a')
      expect(upstream.requests).to.have.length(asked)
    })
  }
})
