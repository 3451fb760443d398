import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { stringify } from 'yaml'
import { type Hold, hold, json, type ScriptedUpstream, scriptedUpstream } from '../../../core/testing/kit.ts'
import { digestOf } from '../../../core/text/ids.ts'
import { closedOrigin } from '../../support/closed-port.ts'
import { onEachDatabase } from '../../support/databases.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { until } from '../../support/poll.ts'
import { completion, hello, stream } from '../plugins/openai-wire.ts'
import { validReloadAfter } from '../reload/reloading.ts'

/** The key that may ask for explanations. */
const OPERATOR = 'sk-live-irZTVfCwhKeI4iywS5HQG4whmyW55h0ds29Q'

const LIMITED = 'umg_namespace_limited_total'

const upstreamAt = (origin: string, more: object = {}) => ({
  provider: 'openai-compatible',
  config: { baseUrl: `${origin}/v1` },
  ...more,
})

const routesFor = (origin: string, limits: object) => ({
  chain: [{ plugin: 'auth' }, { plugin: 'header-stamping' }, { plugin: 'explain', config: { keys: ['routes:ops'] } }],
  namespaces: {
    vendor: upstreamAt(origin, { limits }),
    spare: upstreamAt(origin),
    acme: {
      models: {
        smart: { targets: [{ model: 'vendor/m' }], fallbacks: ['spare/m'] },
        brief: { targets: [{ model: 'vendor/m' }], timeouts: { firstByte: '300ms', total: '300ms' } },
      },
    },
  },
  keys: [{ name: 'ops', kind: 'live', hash: `sha256:${digestOf(OPERATOR)}`, models: ['*'] }],
})

const ask = (gateway: TestGateway, body: object = {}, init: { key?: string; signal?: AbortSignal } = {}): Promise<Response> =>
  gateway.fetch('/v1/chat/completions', {
    json: { model: 'vendor/m', messages: [{ role: 'user', content: 'hi' }], ...body },
    ...init,
  })

async function statusOf(reply: Promise<Response>): Promise<number> {
  const { status, body } = await reply
  await body?.cancel()
  return status
}

/** Resolves when so many attempts have met a limit. */
async function untilLimited(gateway: TestGateway, count: number): Promise<void> {
  await until(async () => (await gateway.metric(LIMITED)) >= count)
}

describe('the limits of a namespace', () => {
  let upstream: ScriptedUpstream
  let gateway: TestGateway | undefined

  beforeEach(async () => {
    upstream = await scriptedUpstream()
    upstream.on(hello)
  })

  afterEach(async () => {
    await gateway?.stop()
    gateway = undefined
    await upstream?.close()
  })

  async function start(limits: object, options: object = {}): Promise<TestGateway> {
    gateway = await startTestGateway({ routes: routesFor(upstream.origin, limits), ...options })
    return gateway
  }

  /** Takes the only place, and keeps it until the hold is released. */
  async function occupied(at: TestGateway): Promise<{ readonly door: Hold; readonly first: Promise<number> }> {
    const door = hold()
    upstream.reply([door, ...json(completion())])
    const first = statusOf(ask(at))
    await door.reached
    return { door, first }
  }

  it('leave further calls to the next target, whatever their keys', async () => {
    const at = await start({ requests: '2/day' })
    const routes = [at.liveKey, await at.key(), await at.key()].map(async (key) => {
      const { headers } = await ask(at, { model: 'acme/smart' }, { key })
      return `${headers.get('x-umg-attempts')} ${headers.get('x-umg-namespace')}`
    })
    expect((await Promise.all(routes)).toSorted()).to.deep.equal(['1 spare', '1 vendor', '1 vendor'])
    expect(await at.metric(LIMITED, { namespace: 'vendor', limit: 'requests' })).to.equal(1)
  })

  it('explain that they were reached', async () => {
    const at = await start({ requests: '1/day' })
    await statusOf(ask(at))
    const explained = async (model: string): Promise<string | null> => {
      const json = { model, messages: [{ role: 'user', content: 'hi' }] }
      const { headers } = await at.fetch('/v1/chat/completions', { json, key: OPERATOR, headers: { 'x-umg-explain': '1' } })
      return headers.get('x-umg-skipped')
    }
    expect(await explained('acme/smart')).to.equal('vendor/m namespace_limit_reached')
    expect(await explained('vendor/m')).to.equal('vendor/m namespace_limit_reached')
  })

  it('are 429 with the time to wait if no other target is left, and are neither an attempt nor a failure', async () => {
    const at = await start({ requests: '1/day' })
    await statusOf(ask(at))
    for (let call = 0; call < 9; call++) {
      const reply = await ask(at)
      expect([reply.status, reply.headers.get('x-should-retry')]).to.deep.equal([429, null])
      expect(Number(reply.headers.get('retry-after'))).to.be.within(86_000, 86_400)
      expect(await reply.json())
        .to.have.property('error')
        .that.include({ code: 'rate_limit_exceeded', type: 'rate_limit_error' })
    }
    expect(upstream.requests).to.have.length(1)
    expect(await (await at.fetch('/readyz?verbose')).text()).to.contain('[+] vendor/m: closed')
    const line = await at.logged(({ error }) => error === 'namespace_limit_reached')
    expect(line).to.include({ outcome: 'rate_limited', fault: 'policy' }).and.not.have.property('attempts')
  })

  it('are awaited if the window ends soon', async () => {
    const at = await start({ requests: '1/s', wait: '30s' })
    expect(await Promise.all([1, 2, 3].map(() => statusOf(ask(at))))).to.deep.equal([200, 200, 200])
  })

  it('give a free place to waiting calls in order of arrival', async () => {
    const at = await start({ concurrent: 1, wait: '1m' })
    const { door, first } = await occupied(at)
    const waiting: Promise<number>[] = []
    for (const [index, name] of ['a', 'b', 'c'].entries()) {
      waiting.push(statusOf(ask(at, { user: name })))
      await untilLimited(at, index + 1)
    }
    expect(upstream.requests).to.have.length(1)
    door.release()
    expect(await Promise.all([first, ...waiting])).to.deep.equal([200, 200, 200, 200])
    const users = upstream.requests.map(({ json: body }) => (body() as { user?: string }).user)
    expect(users).to.deep.equal([undefined, 'a', 'b', 'c'])
  })

  it('refuse a call that has waited for too long', async () => {
    const at = await start({ concurrent: 1, wait: '20ms' })
    const { door, first } = await occupied(at)
    const reply = await ask(at)
    expect([reply.status, reply.headers.get('retry-after')]).to.deep.equal([429, '1'])
    door.release()
    expect(await first).to.equal(200)
    expect(await statusOf(ask(at))).to.equal(200)
  })

  it('are not awaited beyond the time of the call', async () => {
    const at = await start({ concurrent: 1, wait: '1m' })
    const { door, first } = await occupied(at)
    expect(await statusOf(ask(at, { model: 'acme/brief' }))).to.equal(429)
    door.release()
    expect(await first).to.equal(200)
  })

  it('keep the place of a stream until its end', async () => {
    const at = await start({ concurrent: 1, wait: '1m' })
    const rest = hold()
    upstream.reply(stream('Hel', rest, 'lo!'))
    const streaming = ask(at, { stream: true }).then((reply) => reply.text())
    await rest.reached
    const next = statusOf(ask(at))
    await untilLimited(at, 1)
    expect(upstream.requests).to.have.length(1)
    rest.release()
    expect(await streaming).to.contain('[DONE]')
    expect(await next).to.equal(200)
  })

  it('forget a waiting call whose client leaves', async () => {
    const at = await start({ concurrent: 1, wait: '1m' })
    const { door, first } = await occupied(at)
    const client = new AbortController()
    const left = ask(at, {}, { signal: client.signal }).catch(() => undefined)
    await untilLimited(at, 1)
    const next = statusOf(ask(at))
    await untilLimited(at, 2)
    client.abort()
    await left
    const line = await at.logged(({ outcome }) => outcome === 'client_closed')
    expect(line).to.not.have.property('tokens')
    door.release()
    expect(await Promise.all([first, next])).to.deep.equal([200, 200])
    expect(upstream.requests).to.have.length(2)
    expect(await statusOf(ask(at))).to.equal(200)
  })

  it('charge what the upstream reports, not what was reserved', async () => {
    const at = await start({ tokens: '1000/day' })
    for (let call = 0; call < 20; call++) expect(await statusOf(ask(at, { max_tokens: 400 }))).to.equal(200)
  })

  it('charge the prompt of a call that is left before its reply', async () => {
    const at = await start({ tokens: '1000/day' })
    const prompt = { messages: [{ role: 'user', content: 'word '.repeat(600) }] }
    const held = hold()
    upstream.reply([held, ...json(completion('late'))])
    const client = new AbortController()
    const left = ask(at, prompt, { signal: client.signal }).catch(() => undefined)
    await held.reached
    client.abort()
    await left
    await at.logged(({ outcome }) => outcome === 'client_closed')
    held.release()
    expect(await statusOf(ask(at, prompt))).to.equal(429)
  })

  it('refuse a call that is larger than the limit, which no retry can help', async () => {
    const at = await start({ tokens: '1000/day' })
    const reply = await ask(at, { max_tokens: 1001 })
    expect([reply.status, reply.headers.get('x-should-retry'), reply.headers.get('retry-after')]).to.deep.equal([
      429,
      'false',
      null,
    ])
  })

  it('count the tokens of a prompt whose size alone is above the limit', async () => {
    const at = await start({ tokens: '10k/day' })
    const url = `data:image/png;base64,${'A'.repeat(100_000)}`
    const messages = [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }]
    expect(await statusOf(ask(at, { messages }))).to.equal(200)
  })

  it('charge nothing for an attempt that reached no upstream', async () => {
    const at = await start({}, { routes: routesFor(await closedOrigin(), { requests: '1/day', concurrent: 1 }) })
    for (let call = 0; call < 3; call++) expect(await statusOf(ask(at))).to.equal(502)
  })

  it('charge each attempt that reached one, also those that fail', async () => {
    const at = await start({ requests: '2/day' })
    upstream.on(() => json({ error: { message: 'no' } }, { status: 500 }))
    expect([await statusOf(ask(at)), await statusOf(ask(at)), await statusOf(ask(at))]).to.deep.equal([502, 502, 429])
  })

  it('do not concern test keys, which reach no upstream', async () => {
    const at = await start({ requests: '1/day' })
    for (let call = 0; call < 3; call++) expect(await statusOf(ask(at, {}, { key: at.testKey }))).to.equal(200)
    expect(await statusOf(ask(at))).to.equal(200)
  })

  it('keep what was used when a reload changes them', async () => {
    const at = await start({ requests: '3/day' })
    expect([await statusOf(ask(at)), await statusOf(ask(at))]).to.deep.equal([200, 200])
    const table = { version: 1, ...routesFor(upstream.origin, { requests: '2/day' }) }
    await validReloadAfter(at, () => writeFile(join(at.folder, 'routes.yaml'), stringify(table)))
    expect(await statusOf(ask(at))).to.equal(429)
  })

  onEachDatabase('of several gateways on one database', (database) => {
    let gateways: TestGateway[] = []

    beforeEach(async () => {
      const routes = routesFor(upstream.origin, { requests: '6/day', concurrent: 1, wait: '1m' })
      const options = { database: await database(), routes }
      gateways = [await startTestGateway(options), await startTestGateway(options)]
    })

    afterEach(() => Promise.all(gateways.map((each) => each.stop())))

    it('hold for all of them together', async () => {
      const [one, two] = gateways as [TestGateway, TestGateway]
      const { door, first } = await occupied(one)
      const next = statusOf(ask(two, {}, { key: one.liveKey }))
      await untilLimited(two, 1)
      expect(upstream.requests).to.have.length(1)
      door.release()
      expect(await Promise.all([first, next])).to.deep.equal([200, 200])
      for (let served = 2; served < 6; ) {
        const at = served % 2 === 0 ? one : two
        if ((await statusOf(ask(at, {}, { key: one.liveKey }))) === 200) served += 1
      }
      const last = await Promise.all([one, two].map((at) => statusOf(ask(at, {}, { key: one.liveKey }))))
      expect(last).to.deep.equal([429, 429])
      expect(upstream.requests).to.have.length(6)
    })
  })
})
