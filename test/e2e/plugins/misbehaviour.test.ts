import { expect } from 'chai'
import { type Hold, hold, json, type ScriptedUpstream, scriptedUpstream, sse } from '../../../core/testing/kit.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { ask, hello, stream } from './openai-wire.ts'
import { strangers } from './stranger-files.ts'

/** What the error of a link says, which nobody but its author may read. */
const DETAIL = /unruly-detail/

const FAILING = [
  'throws an Error at once',
  'throws an Error later',
  'throws a text',
  'throws undefined',
  'throws after next',
  'does nothing',
  'answers by ctx.body',
  'answers by ctx.body after next',
  'calls next twice',
  'calls next twice and catches',
  'calls next after its end',
  'hangs',
  'hangs after next',
  'transforms badly',
  'sends the wrong kind',
  'sends a promise that rejects',
  'sends what is neither',
  'sends what throws',
  'sends too late',
  'transforms too late',
  'edits too late',
  'replies and calls next',
]

/** Its fault shows only once the reply is out. */
const SETTLING = ['settles with an Error', 'settles with a rejection', 'never settles']

describe('A link that breaks its contract', () => {
  let upstream: ScriptedUpstream
  let gateway: TestGateway
  let open: Hold
  let otherCall: Promise<string>
  /** Those of the first look-ups. */
  let errorsOfAuth: number

  before(async () => {
    upstream = await scriptedUpstream()
    upstream.on(hello)
    gateway = await startTestGateway({
      routes: {
        chain: [{ plugin: 'auth' }, { plugin: './unruly.ts' }],
        namespaces: { up: { provider: 'openai-compatible', config: { baseUrl: `${upstream.origin}/v1` } } },
      },
      files: strangers('unruly.ts'),
      times: { link: 100 },
    })
    // The first look-up of the key starts a thread, which may take longer than a link may.
    while ((await gateway.fetch('/v1/models')).status !== 200);
    errorsOfAuth = await gateway.metric('umg_plugin_errors_total', { plugin: 'auth' })
  })

  after(async () => {
    await gateway?.stop()
    await upstream?.close()
  })

  const call = (deed: string, streamed: boolean) =>
    gateway.fetch('/v1/chat/completions', { json: ask({ stream: streamed }), headers: { 'x-deed': deed } })

  beforeEach(async () => {
    open = hold()
    upstream.reply(stream('by', open, 'stander'))
    const reply = await call('', true)
    otherCall = reply.text()
    await open.reached
  })

  afterEach(async () => {
    open?.release()
    expect(await otherCall).to.match(/"by".*"stander".*\[DONE\]/s)
  })

  const lineOf = (reply: Response) => gateway.logged(({ id }) => id === reply.headers.get('x-request-id'))

  for (const streamed of [false, true]) {
    describe(streamed ? 'at a stream' : 'at a whole reply', () => {
      for (const deed of FAILING) {
        it(`fails its own call only: it ${deed}`, async () => {
          const failures = await gateway.metric('umg_plugin_errors_total', { plugin: 'unruly' })
          const reply = await call(deed, streamed)
          expect(reply.status).to.equal(500)
          const body = await reply.text()
          expect(JSON.parse(body).error).to.deep.include({ type: 'server_error', code: 'plugin_error', param: null })
          expect(body).to.not.match(DETAIL)
          const line = await lineOf(reply)
          expect(line).to.include({ outcome: 'gateway_error', error: 'plugin_error' })
          expect(line.cause).to.match(/^unruly: /)
          expect(JSON.stringify(line)).to.not.match(DETAIL)
          expect(await gateway.metric('umg_plugin_errors_total', { plugin: 'unruly' })).to.equal(failures + 1)
          expect(await gateway.metric('umg_plugin_errors_total', { plugin: 'auth' })).to.equal(errorsOfAuth)
        })
      }

      for (const deed of SETTLING) {
        it(`changes nothing after the reply was sent: it ${deed}`, async () => {
          const failures = await gateway.metric('umg_plugin_errors_total', { plugin: 'unruly' })
          const before = gateway.log.length
          const logged = gateway.logged((line) => line.msg === 'onSettled failed' && gateway.log.indexOf(line) >= before)
          const reply = await call(deed, streamed)
          expect(reply.status).to.equal(200)
          await reply.text()
          expect(await lineOf(reply)).to.include({ outcome: 'ok' })
          expect(await logged).to.include({ plugin: 'unruly' })
          expect(await gateway.metric('umg_plugin_errors_total', { plugin: 'unruly' })).to.equal(failures + 1)
        })
      }

      it('is awaited even if it does not await next', async () => {
        const reply = await call('does not wait for next', streamed)
        expect(reply.status).to.equal(200)
        expect(await reply.text()).to.contain('lo!')
      })
    })
  }

  for (const deed of ['sends what breaks off', 'transforms badly from the second chunk on']) {
    it(`ends a running stream with an error frame: it ${deed}`, async () => {
      const reply = await call(deed, true)
      expect(reply.status).to.equal(200)
      const { events, cut } = await readToTheEnd(reply)
      expect(cut).to.equal(true)
      expect(JSON.parse(events.at(-1)!).error.code).to.equal('plugin_error')
      expect(events.join()).to.contain('unruly')
      expect(events.join()).to.not.match(DETAIL)
      expect((await lineOf(reply)).cause).to.match(/^unruly: /)
    })
  }

  it('changes nothing for core if it shadows its state', async () => {
    const reply = await call('shadows its state', false)
    expect([reply.status, (await lineOf(reply)).outcome]).to.deep.equal([200, 'ok'])
  })

  it('only affects its own call if it writes to the socket itself', async () => {
    const reply = await call('writes the reply itself', false)
    expect(await reply.text()).to.equal('mine')
    expect(await lineOf(reply)).to.include({ outcome: 'gateway_error', error: 'plugin_error' })
  })

  it('is reported even if its call had failed before', async () => {
    upstream.reply(json({}, { status: 500 }))
    const reply = await call('throws after next', false)
    expect(reply.status).to.equal(502)
    const id = reply.headers.get('x-request-id')
    const line = await gateway.logged(({ msg, id: about }) => msg === 'plugin failed' && about === id)
    expect(line.err).to.match(/^unruly: TypeError at /)
  })

  it('is not reported for an invalid chunk of the upstream', async () => {
    upstream.reply(sse(['data: {"choices":]}\n\n']))
    const reply = await call('transforms', true)
    expect(reply.status).to.equal(502)
    expect(await reply.text()).to.contain('upstream_invalid_response')
  })
})

/** The data of a stream's events, and whether it broke off. */
async function readToTheEnd(reply: Response): Promise<{ events: string[]; cut: boolean }> {
  let text = ''
  let cut = false
  try {
    for await (const bytes of reply.body!.pipeThrough(new TextDecoderStream())) text += bytes
  } catch {
    cut = true
  }
  return { events: [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => data!), cut }
}
