import { expect } from 'chai'
import { hold, json, type ScriptedUpstream, scriptedUpstream } from '../../../core/testing/kit.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { ask, hello, stream } from './openai-wire.ts'
import { strangers } from './stranger-files.ts'

/** What the error of a provider says, which nobody but its author may read. */
const DETAIL = /faulty-detail/

const PLUGIN_ERROR = { status: 500, code: 'plugin_error', cause: /^faulty: / }
const NOT_A_REPLY = { status: 502, code: 'upstream_invalid_response', cause: /RangeError at .*faulty\.ts/ }

/** Where it fails, at which reply of its upstream, and what its client then gets. */
const FAULTS = [
  { place: 'request', streamed: false, expected: PLUGIN_ERROR },
  { place: 'request, later', streamed: true, expected: PLUGIN_ERROR },
  { place: 'what request returns', streamed: false, expected: PLUGIN_ERROR },
  { place: 'a header', streamed: false, expected: PLUGIN_ERROR },
  { place: 'the origin', streamed: true, expected: PLUGIN_ERROR },
  { place: 'translator', streamed: false, expected: PLUGIN_ERROR },
  { place: 'translator', streamed: true, expected: PLUGIN_ERROR },
  { place: 'error', streamed: false, status: 400, expected: PLUGIN_ERROR },
  { place: 'error', streamed: true, status: 400, expected: PLUGIN_ERROR },
  { place: 'completion', streamed: false, expected: NOT_A_REPLY },
  { place: 'event', streamed: true, expected: NOT_A_REPLY },
] as const

const MODULES = ['models', 'close', ...new Set(FAULTS.map(({ place }) => place))]

/** `what request returns` as the name of a namespace. */
const namespaceOf = (place: string): string => place.replaceAll(/\W+/g, '-')

describe('A provider that throws', () => {
  let upstream: ScriptedUpstream
  let gateway: TestGateway

  before(async () => {
    upstream = await scriptedUpstream()
    upstream.on(hello)
    const faulty = (place: string) => ({ provider: './faulty.ts', config: { origin: upstream.origin, in: place } })
    gateway = await startTestGateway({
      routes: {
        chain: [{ plugin: 'auth' }],
        namespaces: {
          up: { provider: 'openai-compatible', config: { baseUrl: `${upstream.origin}/v1` } },
          ...Object.fromEntries(MODULES.map((place) => [namespaceOf(place), faulty(place)])),
        },
      },
      files: strangers('faulty.ts'),
    })
  })

  after(async () => {
    await gateway?.stop()
    await upstream?.close()
  })

  for (const { place, streamed, expected, ...more } of FAULTS) {
    it(`in ${place} fails its own call only, ${streamed ? 'a stream' : 'a whole reply'}`, async () => {
      const open = hold()
      upstream.reply(stream('by', open, 'stander'))
      const otherCall = await gateway.fetch('/v1/chat/completions', { json: ask({ stream: true }) })
      await open.reached

      if ('status' in more) upstream.reply(json({}, { status: more.status }))
      const body = ask({ model: `${namespaceOf(place)}/m`, stream: streamed })
      const reply = await gateway.fetch('/v1/chat/completions', { json: body })
      const text = await reply.text()
      expect(reply.status).to.equal(expected.status)
      expect(JSON.parse(text).error).to.have.property('code', expected.code)
      expect(text).to.not.match(DETAIL)
      const line = await gateway.logged(({ id }) => id === reply.headers.get('x-request-id'))
      expect(line.cause).to.match(expected.cause)
      expect(JSON.stringify(line)).to.not.match(DETAIL)

      open.release()
      expect(await otherCall.text()).to.match(/"by".*"stander".*\[DONE\]/s)
    })
  }

  it('in models removes its namespace from the list, with a line in the log', async () => {
    const reply = await gateway.fetch('/v1/models')
    expect(reply.status).to.equal(200)
    const line = await gateway.logged(({ msg }) => msg === 'discovery of models failed')
    expect(line).to.include({ plugin: 'faulty', level: 'warn' })
    expect(line.at).to.match(/routes\.yaml:\d+:\d+$/)
    expect(JSON.stringify(line)).to.not.match(DETAIL)
  })

  it('is counted in the metric of plugin faults', async () => {
    const reply = await gateway.fetch('/v1/chat/completions', { json: ask({ model: 'request/m' }) })
    await gateway.logged(({ id }) => id === reply.headers.get('x-request-id'))
    expect(await gateway.metric('umg_plugin_errors_total', { plugin: 'faulty', phase: 'request' })).to.be.greaterThan(0)
  })

  it('in close does not prevent the gateway from stopping', async () => {
    const config = { origin: upstream.origin, in: 'close' }
    const other = await startTestGateway({
      routes: { namespaces: { close: { provider: './faulty.ts', config } } },
      files: strangers('faulty.ts'),
    })
    await other.stop()
    expect(other.log.at(-1)).to.include({ plugin: 'faulty', msg: 'close failed' })
  })

  for (const [place, message] of [
    ['create', 'in: choose another place to fail'],
    ['nothing made', 'create() must return a provider: { request(call) { … } … }'],
  ] as const) {
    it(`in ${place} prevents the gateway from starting, with its position in routes.yaml`, async () => {
      const routes = `version: 1\nnamespaces:\n  mine:\n    provider: ./faulty.ts\n    config: { origin: http://x, in: ${place} }\n`
      const error = await startTestGateway({ routes, files: strangers('faulty.ts') }).catch((reason: unknown) => reason)
      expect(error).to.be.an('error')
      expect((error as Error).message).to.match(/^\/.*\/routes\.yaml:3:3: namespace mine: /)
      expect((error as Error).message).to.contain(message)
    })
  }
})
