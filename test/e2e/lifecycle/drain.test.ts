import { expect } from 'chai'
import { type Hold, hold, type ScriptedUpstream, scriptedUpstream } from '../../../core/testing/kit.ts'
import { ask, stream } from '../plugins/openai-wire.ts'
import { Home, type Umg } from './umg.ts'

const routes = (origin: string) => `version: 1
chain: [{ plugin: auth, config: { anonymous: { models: ["*"] } } }]
namespaces: { up: { provider: openai-compatible, config: { baseUrl: "${origin}/v1" } } }
`

describe('a gateway that gets a signal', () => {
  let upstream: ScriptedUpstream
  let home: Home
  let stalled: Hold

  beforeEach(async () => {
    upstream = await scriptedUpstream()
    home = await Home.create({ 'routes.yaml': routes(upstream.origin) })
    stalled = hold()
  })

  afterEach(async () => {
    await home?.remove()
    await upstream?.close()
  })

  const call = (url: string) =>
    fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(ask({ stream: true })),
    })

  /** Starts a gateway with an open stream, of which the first chunk has arrived. */
  async function streaming(...flags: string[]): Promise<{ umg: Umg; url: string; text: Promise<string> }> {
    const { umg, url } = await home.start(...flags)
    upstream.reply(stream('Hel', stalled, 'lo!'))
    const reply = await call(url)
    return { umg, url, text: textOf(reply) }
  }

  async function untilNotReady(url: string): Promise<Response> {
    for (;;) {
      const reply = await fetch(`${url}/readyz`)
      if (reply.status === 503) return reply
      await reply.body?.cancel()
    }
  }

  it('is not ready at once, still accepts calls, and lets an open stream end', async () => {
    const { umg, url, text } = await streaming('--drain-delay', '5')
    // npm repeats the signal of the terminal: two signals within a second count as one.
    umg.signal('SIGTERM')
    umg.signal('SIGTERM')
    expect((await untilNotReady(url)).headers.get('connection')).to.equal('close')
    upstream.reply(stream('late'))
    const late = await call(url)
    expect(late.headers.get('connection')).to.equal('close')
    expect(await late.text()).to.match(/"late".*\[DONE\]/s)
    stalled.release()
    expect(await text).to.match(/"Hel".*"lo!".*\[DONE\]/s)
    expect(await umg.ended).to.deep.include({ code: 0, stderr: '' })
  })

  it('ends a stream that exceeds the grace period with an error frame', async () => {
    const { umg, text } = await streaming('--drain-delay', '0', '--grace', '0.1')
    umg.signal('SIGTERM')
    const events = (await text).trim().split('\n\n')
    expect(events.at(-1)).to.match(/^data: \{"error":.*"service_unavailable"/)
    expect(events.join()).to.not.contain('[DONE]')
    expect(await umg.ended).to.have.property('code', 0)
  })

  it('ends at once on a second signal, and the open stream has its row', async () => {
    const { umg, text } = await streaming('--grace', '600')
    umg.signal('SIGINT')
    // Signals within a second count as one, so that several may be needed.
    const again = setInterval(() => umg.signal('SIGINT'), 200)
    expect(await umg.ended).to.have.property('code', 1)
    clearInterval(again)
    expect(await text).to.not.contain('lo!')
    const { stdout } = await home.run(['requests', 'list', '--format', 'jsonl']).ended
    expect(stdout.trim().split('\n').filter(Boolean)).to.have.length(1)
    expect(JSON.parse(stdout)).to.have.nested.property('error.code', 'service_unavailable')
  })
})

/** The text of a body, complete or not. */
async function textOf(reply: Response): Promise<string> {
  let text = ''
  try {
    for await (const chunk of reply.body!.pipeThrough(new TextDecoderStream())) text += chunk
  } catch {
    // The connection was cut. The text before it counts.
  }
  return text
}
