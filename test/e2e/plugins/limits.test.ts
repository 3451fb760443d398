import { request as httpRequest } from 'node:http'
import { expect } from 'chai'
import { hold, json, runLink, type ScriptedUpstream, scriptedUpstream } from '../../../core/testing/kit.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { until } from '../../support/poll.ts'
import { ask, completion, hello } from './openai-wire.ts'
import { strangers } from './stranger-files.ts'
import teams from './strangers/teams.ts'

const usage = (tokens: number) => ({ prompt_tokens: tokens - 10, completion_tokens: 10, total_tokens: tokens })

describe("a stranger's link that limits what teams use, by limits.reserveFor", () => {
  let upstream: ScriptedUpstream
  let gateway: TestGateway

  beforeEach(async () => {
    upstream = await scriptedUpstream()
    upstream.on(hello)
  })

  afterEach(async () => {
    await gateway?.stop()
    await upstream?.close()
  })

  async function start(config: object): Promise<void> {
    const provider = (path: string) => ({
      provider: 'openai-compatible',
      breaker: false,
      config: { baseUrl: `${upstream.origin}${path}/v1` },
    })
    gateway = await startTestGateway({
      routes: {
        chain: [{ plugin: 'auth' }, { plugin: './teams.ts', config }],
        namespaces: {
          first: provider('/first'),
          second: provider('/second'),
          acme: { models: { m: { targets: [{ model: 'first/m' }], fallbacks: ['second/m'] } } },
        },
      },
      files: strangers('teams.ts'),
    })
  }

  interface Answer {
    readonly status: number
    readonly left: string | null
    readonly message: string | undefined
  }

  async function call(body: object = {}, { team = 'red' }: { team?: string } = {}): Promise<Answer> {
    const reply = await gateway.fetch('/v1/chat/completions', {
      json: ask({ model: 'acme/m', ...body }),
      headers: { 'x-team': team },
    })
    const { error } = (await reply.json()) as { error?: { message: string } }
    return { status: reply.status, left: reply.headers.get('x-team-left'), message: error?.message }
  }

  it('is charged what the upstream reports in place of what was reserved, each team by itself', async () => {
    await start({ tokens: '1000/h' })
    upstream.on(() => json({ ...completion('short'), usage: usage(50) }))
    const first = await call({ max_tokens: 800 })
    expect(Number(first.left)).to.be.within(100, 200)
    const second = await call({ max_tokens: 800 })
    expect(Number(second.left)).to.equal(Number(first.left) - 50)
    expect((await call({ max_tokens: 800 }, { team: 'blue' })).left).to.equal(first.left)
  })

  it('refuses with its own error, which knows the limit and what the call needs', async () => {
    await start({ tokens: '1000/h' })
    const { status, message } = await call({ max_tokens: 2000 })
    expect(status).to.equal(403)
    expect(message).to.match(/teams\/red tokens 20\d\d/)
    expect(upstream.requests).to.have.length(0)
  })

  it('counts a prompt that its size alone would refuse', async () => {
    await start({ tokens: '1000/h' })
    const spaces = { messages: [{ role: 'user', content: ' '.repeat(8000) }] }
    expect(await call(spaces)).to.include({ status: 200 })
    const words = { messages: [{ role: 'user', content: 'one two three four '.repeat(400) }] }
    expect(await call(words)).to.include({ status: 403 })
  })

  /** The first target fails when it has used 600 tokens. */
  function failHalfway(): void {
    const half = json({ ...completion('half'), usage: usage(600), error: { message: 'no', code: 500 } })
    upstream.on((request) => (request.path.startsWith('/first') ? half : hello(request)))
  }

  it('reserves before another attempt what the failed one has used', async () => {
    await start({ tokens: '1000/h' })
    failHalfway()
    expect(await call({ max_tokens: 200 })).to.include({ status: 200 })
    expect(Number((await call()).left)).to.be.within(200, 300)
  })

  it('ends the call with its own error if that is too much', async () => {
    await start({ tokens: '1000/h' })
    failHalfway()
    const { status, message } = await call({ max_tokens: 500 })
    expect(status).to.equal(403)
    expect(message).to.match(/teams\/red tokens 600$/)
    expect(upstream.requests).to.have.length(1)
  })

  it('gets its place back when the call has failed', async () => {
    await start({ tokens: '1000/h', concurrent: 1 })
    const stalled = hold()
    upstream.reply([stalled, ...json({ error: { message: 'no' } }, { status: 400 })])
    const failed = call({ model: 'first/m' })
    await stalled.reached
    expect((await call()).message).to.include('teams/red concurrent')
    stalled.release()
    expect(await failed).to.include({ status: 400 })
    expect(await call()).to.include({ status: 200 })
  })

  it('gets its place back when the client leaves before its body has come', async () => {
    await start({ tokens: '1000/h', concurrent: 1 })
    const headers = { authorization: `Bearer ${gateway.liveKey}`, 'content-type': 'application/json', 'content-length': 200_000 }
    const leaving = httpRequest(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { ...headers, 'x-team': 'red' },
    })
    leaving.on('error', () => undefined)
    leaving.write('{"model":')
    await until(async () => (await call()).status === 403)
    leaving.destroy()
    await until(async () => (await call()).status === 200)
  })

  it('runs in the test kit', async () => {
    const { client } = await runLink(teams, { config: { tokens: '1000/h' } })
    expect(client.status).to.equal(200)
    expect(Number(client.headers['x-team-left'])).to.be.within(800, 899)
  })
})
