import { expect } from 'chai'
import { readText } from '../../../core/testing/gateway/read-text.ts'
import { type Hold, hold, type ScriptedUpstream, scriptedUpstream } from '../../../core/testing/kit.ts'
import { Home, type Umg } from '../lifecycle/umg.ts'
import { ask, hello, stream } from './openai-wire.ts'
import { strangers } from './stranger-files.ts'

/** What the link says, which nobody but its author may read. */
const DETAIL = /forgetful-detail/

describe('A promise that a link loses', () => {
  let upstream: ScriptedUpstream
  let home: Home
  let umg: Umg
  let url: string
  let secret: string
  let held: Hold
  let never: Hold
  let otherCall: Promise<string>

  before(async () => {
    upstream = await scriptedUpstream()
    home = await Home.create({
      'routes.yaml': `version: 1
chain: [{ plugin: auth }, { plugin: ./forgetful.ts }]
namespaces: { up: { provider: openai-compatible, config: { baseUrl: "${upstream.origin}/v1" } } }
`,
      ...strangers('forgetful.ts'),
    })
    secret = (await home.run(['keys', 'create', '--name', 'caller']).ended).stdout.trim()
    const started = await home.start()
    umg = started.umg
    url = started.url
  })

  after(async () => {
    await home?.remove()
    await upstream?.close()
  })

  /** `model`: that of the upstream; `never` does not answer. */
  const call = (deed: string, streamed: boolean, model = 'm'): Promise<Response> =>
    fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json', 'x-deed': deed },
      body: JSON.stringify(ask({ stream: streamed, model: `up/${model}` })),
    })

  async function failures(): Promise<number> {
    const text = await (await fetch(`${url}/metrics`)).text()
    return Number(/^umg_plugin_errors_total\{plugin="forgetful",phase="background"\} (\d+)/m.exec(text)?.[1] ?? 0)
  }

  /** The log line of the call that has a certain text. */
  async function logged(id: string, text: string): Promise<Readonly<Record<string, unknown>>> {
    const [line] = await umg.prints(new RegExp(`^\\{.*"id":"${id}".*${text}.*\\}$`, 'm'))
    expect(line).to.not.match(DETAIL)
    return JSON.parse(line)
  }

  beforeEach(async () => {
    held = hold()
    never = hold()
    upstream.on((request) => {
      const { model, stream: streamed } = request.json() as { readonly model: string; readonly stream?: boolean }
      if (model === 'held') return stream('by', held, 'stander')
      if (model !== 'never') return hello(request)
      return streamed ? stream('cut', never, 'off') : [never]
    })
    otherCall = call('', true, 'held').then((reply) => reply.text())
    await held.reached
  })

  afterEach(async () => {
    never?.release()
    held?.release()
    expect(await otherCall).to.match(/"by".*"stander".*\[DONE\]/s)
    expect(umg?.stdout).to.not.contain('uncaught exception')
  })

  for (const deed of [
    'throws in a timer',
    'awaits no rejection',
    'awaits no rejection of the host',
    'awaits no rejection where the host calls it',
    'waits for a timer that throws',
  ]) {
    it(`costs its call, which waits for its upstream no longer: the link ${deed}`, async () => {
      const before = await failures()
      const reply = await call(deed, false, 'never')
      expect(reply.status).to.equal(500)
      const body = await reply.text()
      expect(JSON.parse(body).error).to.include({ code: 'plugin_error' })
      expect(body).to.not.match(DETAIL)
      const line = await logged(reply.headers.get('x-request-id')!, '"outcome"')
      expect(line).to.include({ outcome: 'gateway_error', error: 'plugin_error' })
      expect(line.cause).to.match(/^forgetful: /)
      expect(await failures()).to.equal(before + 1)
    })
  }

  it('breaks a stream off whose head is sent: the link loses it in a transform', async () => {
    const reply = await call('loses it in a transform', true, 'never')
    expect(reply.status).to.equal(200)
    expect(await readText(reply)).to.match(/"cut".*plugin_error/s)
    expect(await logged(reply.headers.get('x-request-id')!, '"outcome"')).to.include({ error: 'plugin_error' })
  })

  it('breaks a stream of its own off: the link loses it while it sends', async () => {
    const reply = await call('loses it while it sends', true)
    expect(await readText(reply)).to.contain('plugin_error')
    expect(await logged(reply.headers.get('x-request-id')!, '"outcome"')).to.include({ error: 'plugin_error' })
  })

  it('is named and counted after the end of its call: the link loses it once the call is over', async () => {
    const before = await failures()
    const reply = await call('loses it once the call is over', false)
    expect(reply.status).to.equal(200)
    await reply.text()
    const line = await logged(reply.headers.get('x-request-id')!, 'plugin failed')
    expect(JSON.stringify(line)).to.contain('forgetful')
    expect(await failures()).to.equal(before + 1)
  })
})
