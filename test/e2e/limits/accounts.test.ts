import { expect } from 'chai'
import { createAccount } from '../../../core/accounts/accounts.ts'
import { GATEWAY } from '../../../core/accounts/audit.ts'
import { createKey, rotateKey } from '../../../core/keys/keys.ts'
import { hold, json, type ScriptedUpstream, scriptedUpstream } from '../../../core/testing/kit.ts'
import { onEachDatabase } from '../../support/databases.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { completion } from '../plugins/openai-wire.ts'

let gateway: TestGateway | undefined
let upstream: ScriptedUpstream | undefined

async function start(limits: object, database?: string): Promise<TestGateway> {
  upstream = await scriptedUpstream()
  upstream.on(() => json(completion('Hello')))
  gateway = await startTestGateway({
    routes: {
      chain: [{ plugin: 'auth' }, { plugin: 'rate-tagging', config: { classes: { standard: limits }, default: 'standard' } }],
      namespaces: { up: { provider: 'openai-compatible', config: { baseUrl: `${upstream.origin}/v1` } } },
    },
    ...(database !== undefined && { database }),
  })
  return gateway
}

afterEach(async () => {
  await gateway?.stop()
  await upstream?.close()
})

async function ask(key: string, body: object = {}): Promise<{ status: number; headers: Headers; message: string }> {
  const reply = await gateway!.fetch('/v1/chat/completions', {
    key,
    json: { model: 'up/m', messages: [{ role: 'user', content: 'Hello!' }], ...body },
  })
  const { error } = (await reply.json()) as { error?: { message: string } }
  return { status: reply.status, headers: reply.headers, message: error?.message ?? '' }
}

/** How many of so many calls with each of the keys are served. */
async function servedOf(keys: readonly string[], calls: number): Promise<number> {
  let served = 0
  for (const key of keys) for (let call = 0; call < calls; call++) if ((await ask(key)).status === 200) served += 1
  return served
}

describe('a limit of an account', () => {
  const LIMITS = { requests: '3/day', account: { requests: '5/day' } }

  it('is shared by all of its keys: further keys add nothing to it', async () => {
    const { key } = await start(LIMITS)
    expect(await servedOf([await key(), await key(), await key(), await key()], 4)).to.equal(5)
  })

  it('is not that of another account', async () => {
    const { key, store } = await start(LIMITS)
    const { id } = await createAccount(store, { name: 'Other', models: ['*'], rateClass: null }, GATEWAY)
    expect(await servedOf([await key(), await key()], 4)).to.equal(5)
    expect(await servedOf([await key({ account: id })], 4)).to.equal(3)
  })

  it('is named by the 429, as is that of a key', async () => {
    const { key, metric } = await start(LIMITS)
    const [first, second] = [await key(), await key()]
    await servedOf([first], 3)
    expect(await ask(first))
      .to.include({ status: 429 })
      .and.have.property('message')
      .that.includes('your key')
    await servedOf([second], 2)
    const { status, message, headers } = await ask(second)
    expect(status).to.equal(429)
    expect(message).to.include('for your account in class standard on requests per day: Limit 5, Used 5, Requested 1.')
    expect(Object.fromEntries(headers)).to.include({ 'x-ratelimit-limit-requests': '5', 'x-ratelimit-remaining-requests': '0' })
    for (const scope of ['key', 'account'])
      expect(await metric('umg_rate_limited_total', { scope, dimension: 'requests' })).to.equal(1)
  })

  it('is in the headers if less of it is left than of the limit of the key', async () => {
    const { key } = await start({ requests: '3/day', account: { requests: '4/day' } })
    const [first, second] = [await key(), await key()]
    const shown = async (secret: string) => {
      const { headers } = await ask(secret)
      return ['limit', 'remaining'].map((name) => headers.get(`x-ratelimit-${name}-requests`)).join('/')
    }
    expect([await shown(first), await shown(first), await shown(second), await shown(second)]).to.deep.equal([
      '3/2',
      '3/1',
      '4/1',
      '4/0',
    ])
  })

  it('takes nothing of a call that the key has no room for, and the other way round', async () => {
    const { key } = await start({ tokens: '1000/day', account: { tokens: '1500/day' } })
    const [first, second] = [await key(), await key()]
    const left = async (secret: string) =>
      Number((await ask(secret, { max_tokens: 1 })).headers.get('x-ratelimit-remaining-tokens'))
    expect(await ask(first, { max_tokens: 1200 })).to.include({ status: 429 })
    expect(await left(first)).to.be.within(900, 1000)
    expect(await ask(second, { max_tokens: 900 })).to.include({ status: 200 })
    expect(await left(second)).to.be.within(900, 1000)
  })

  it('of concurrent calls is one for all keys', async () => {
    const { key } = await start({ account: { concurrent: 1 } })
    const [first, second] = [await key(), await key()]
    const held = hold()
    upstream!.on(() => [held, ...json(completion('late'))])
    const open = ask(first)
    await held.reached
    const refused = await ask(second)
    expect(refused.status).to.equal(429)
    expect(refused.message).to.include('your account').and.include('concurrent requests: Limit 1')
    held.release()
    expect((await open).status).to.equal(200)
  })
})

describe('a rotated key', () => {
  onEachDatabase('in', (database) => {
    it('goes on with the limits of the keys that it replaces', async () => {
      const { store } = await start({ requests: '4/day' }, await database())
      const first = await createKey(store, { name: 'app', kind: 'live' })
      expect(await servedOf([first.secret], 2)).to.equal(2)
      const second = await rotateKey(store, { id: first.key.id, overlap: 60_000 }, GATEWAY)
      const third = await rotateKey(store, { id: second.key.id, overlap: 60_000 }, GATEWAY)
      expect(await servedOf([third.secret, second.secret, first.secret], 4)).to.equal(2)
    })
  })
})
