import { expect } from 'chai'
import { FIN, hold, json, type ScriptedUpstream, scriptedUpstream, sse } from '../../../core/testing/kit.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { ask, completion, hello, piece, stream, USAGE } from './openai-wire.ts'
import { strangers } from './stranger-files.ts'

describe('A third-party chain plugin', () => {
  let upstream: ScriptedUpstream
  let gateway: TestGateway

  before(async () => {
    upstream = await scriptedUpstream()
    upstream.on((request) => (request.path === '/teams' ? json({ test: 'red', busy: 'blue' }) : hello(request)))
    gateway = await start()
  })

  after(async () => {
    await gateway?.stop()
    await upstream?.close()
  })

  const start = () =>
    startTestGateway({
      routes: {
        chain: [{ plugin: 'auth' }, { plugin: './audit.ts', config: { directory: `${upstream.origin}/teams`, atOnce: 2 } }],
        namespaces: { up: { provider: 'openai-compatible', config: { baseUrl: `${upstream.origin}/v1` } } },
      },
      files: strangers('audit.ts', 'fingerprint.ts'),
    })

  const call = (body: object, init: RequestInit = {}) => gateway.fetch('/v1/chat/completions', { json: ask(body), ...init })

  const audited = (reply: Response) => {
    const id = reply.headers.get('x-request-id')
    return gateway.logged((line) => line.msg === 'audited' && line.call === id)
  }

  for (const streamed of [false, true]) {
    const kind = streamed ? 'a stream' : 'a whole reply'

    it(`reads and changes the request for ${kind}`, async () => {
      const received = upstream.reply(streamed ? stream('Hello!') : json(completion()))
      const deputy = await gateway.key({ name: 'deputy' })
      const reply = await call({ stream: streamed }, { headers: { 'x-deputy': deputy } })
      await reply.text()
      const request = await received
      expect(request.headers).to.include({ 'x-team': 'red' })
      expect(request.json()).to.have.property('metadata').that.deep.include({ team: 'red', deputy: 'deputy' })
      expect(request.json())
        .to.have.nested.property('metadata.fingerprint')
        .that.matches(/^[0-9a-f]{8}$/)
    })

    it(`changes ${kind}`, async () => {
      const reply = await call({ stream: streamed })
      const text = await reply.text()
      const said = streamed
        ? [...text.matchAll(/"content":"([^"]*)"/g)].map(([, content]) => content).join('')
        : JSON.parse(text).choices[0].message.content
      expect(said).to.equal('HELLO!')
    })

    it(`sets headers of ${kind} from the target that served it`, async () => {
      const reply = await call({ stream: streamed })
      await reply.text()
      expect(Object.fromEntries(reply.headers)).to.include({
        'x-audit-served': 'openai-compatible up/m',
        'x-audit-attempts': 'ok',
        'x-audit-failure': 'none',
        'x-audit-timed': 'true',
      })
    })

    it(`gets the outcome of ${kind}`, async () => {
      const reply = await call({ stream: streamed })
      await reply.text()
      expect(await audited(reply)).to.deep.include({
        kind: 'ok',
        status: 200,
        served: { namespace: 'up', model: 'm', provider: 'openai-compatible' },
        attempts: ['ok'],
        gone: true,
        timed: true,
        ...(!streamed && { usage: USAGE }),
        plugin: 'audit',
      })
    })

    it(`gets the upstream's error for ${kind}, and sets headers of the error`, async () => {
      upstream.reply(json({ error: { message: 'No' } }, { status: 500 }))
      const reply = await call({ stream: streamed })
      expect(reply.status).to.equal(502)
      await reply.text()
      expect(Object.fromEntries(reply.headers)).to.include({
        'x-audit-served': 'nobody',
        'x-audit-attempts': 'upstream_error',
        'x-audit-failure': 'upstream_error',
      })
      expect(await audited(reply)).to.deep.include({ kind: 'upstream_error', status: 502, error: 'upstream_error' })
    })

    it(`gets the outcome client_closed for ${kind}`, async () => {
      const stalled = hold()
      const request = upstream.reply(streamed ? sse([piece('Hel'), stalled]) : [stalled])
      const client = new AbortController()
      const reply = call({ stream: streamed }, { signal: client.signal })
      await stalled.reached
      if (streamed) await reply
      const before = gateway.log.length
      client.abort()
      await reply.then((one) => one.text()).catch(() => undefined)
      await (await request).closed
      const line = await gateway.logged((one) => one.msg === 'audited' && gateway.log.indexOf(one) >= before)
      expect(line).to.deep.include({ kind: 'client_closed', status: 499, gone: true })
    })
  }

  it('gets the outcome of a stream that broke off after its head', async () => {
    upstream.reply(sse([piece('Hel'), FIN]))
    const reply = await call({ stream: true })
    await reply.text().catch(() => undefined)
    expect(await audited(reply)).to.deep.include({ kind: 'upstream_error', status: 200, error: 'upstream_disconnected' })
  })

  it('is not run for a call that auth refused', async () => {
    const reply = await call({}, { headers: { authorization: 'Bearer sk-live-nonsense' } })
    expect(reply.status).to.equal(401)
    await gateway.logged((line) => line.id === reply.headers.get('x-request-id'))
    expect(reply.headers.get('x-audit-failure')).to.equal(null)
    expect(gateway.log.filter((line) => line.call === reply.headers.get('x-request-id'))).to.deep.equal([])
  })

  it('limits calls, refuses with its own message, and admits the next one', async () => {
    const key = await gateway.key({ name: 'busy' })
    const asBlue = () => gateway.fetch('/v1/chat/completions', { json: ask(), key })
    const held = [hold(), hold()]
    for (const one of held) upstream.reply([one, ...json(completion())])
    const calls = held.map(asBlue)
    await Promise.all(held.map(({ reached }) => reached))
    const refused = await asBlue()
    expect(refused.status).to.equal(403)
    expect(await refused.json()).to.have.nested.property('error.message', 'Your team is busy.')
    for (const one of held) one.release()
    for (const one of calls) await audited(await one)
    expect(await asBlue()).to.have.property('status', 200)
  })

  it('adds its tags to the log and its metrics to the others', async () => {
    const reply = await call({})
    await reply.text()
    const line = await gateway.logged(({ id }) => id === reply.headers.get('x-request-id'))
    expect(line.tags).to.deep.equal({ team: 'red' })
    expect(await gateway.metric('audit_calls_total', { team: 'red', outcome: 'ok' })).to.be.greaterThan(0)
    expect(await gateway.metric('audit_prompt_tokens_count')).to.be.greaterThan(0)
  })

  it('is closed with the gateway after its signal was aborted', async () => {
    const other = await start()
    await other.stop()
    expect(other.log.at(-1)).to.include({ plugin: 'audit', msg: 'audit closed', aborted: true })
  })
})
