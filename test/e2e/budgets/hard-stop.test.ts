import { expect } from 'chai'
import { createAccount, editAccount } from '../../../core/accounts/accounts.ts'
import { GATEWAY } from '../../../core/accounts/audit.ts'
import { createKey, editKey, rotateKey } from '../../../core/keys/keys.ts'
import { DONE, hold, json, openaiReply, sse } from '../../../core/testing/kit.ts'
import { type BudgetGateway, type PricedUpstream, pricedUpstream, startBudgetGateway } from './fixture.ts'

describe('a budget', () => {
  let priced: PricedUpstream
  let started: BudgetGateway
  let ask: BudgetGateway['ask']
  let statuses: BudgetGateway['statuses']

  beforeEach(async () => {
    priced = await pricedUpstream()
    started = await startBudgetGateway({ routes: priced.routes({ budgets: { timeZone: 'Europe/Berlin' } }) })
    ;({ ask, statuses } = started)
  })

  afterEach(async () => {
    await started?.gateway.stop()
    await priced?.close()
  })

  const keyWith = (...budgets: string[]): Promise<string> => started.gateway.key({ budgets })

  it('stops calls when it is spent, and says which budget it is and when it renews', async () => {
    const key = await keyWith('1 USD/month')
    expect(await statuses(key, 4)).to.deep.equal([200, 200, 200, 200])
    const reply = await ask(key)
    expect(reply.status).to.equal(429)
    expect(reply.headers.get('x-should-retry')).to.equal('false')
    const { error } = (await reply.json()) as { error: { message: string } }
    expect(error).to.include({ type: 'insufficient_quota', code: 'insufficient_quota', param: null })
    expect(error.message).to.match(
      /^You exceeded your current quota: of the budget of your key, 1 USD\/month, 0\.00 USD is left, and this call to `up\/call` may cost up to 0\.25 USD\. The budget renews at \d{4}-\d\d-(28|29|30|31)T2[23]:00:00\.000Z\./,
    )
    // opencode repeats any 429, but waits for this time.
    const renewal = Date.parse(/renews at (\S+Z)/.exec(error.message)![1]!)
    expect(Number(reply.headers.get('retry-after')) * 1000).to.be.within(renewal - Date.now(), renewal - Date.now() + 60_000)
    expect(priced.upstream.requests).to.have.length(4)
  })

  it('is not asked again by the official SDK', async () => {
    const key = await keyWith('0.25 USD/day')
    expect(await statuses(key, 1)).to.deep.equal([200])
    const call = started.gateway
      .openai(key)
      .chat.completions.create({ model: 'up/call', messages: [{ role: 'user', content: 'Hi.' }] })
    expect(await call.catch((caught: unknown) => caught)).to.include({ status: 429, code: 'insufficient_quota' })
    const isRefused = ({ status }: Record<string, unknown>): boolean => status === 429
    await started.gateway.logged(isRefused)
    expect(started.gateway.log.filter(isRefused)).to.have.length(1)
  })

  it('of one unit stops calls while that of another one has some left', async () => {
    const key = await keyWith('0.50 USD/day', '2 USD/month')
    expect(await statuses(key, 3)).to.deep.equal([200, 200, 429])
    expect(await (await ask(key)).text()).to.contain('0.50 USD/day')
  })

  it('of an account is for all its keys, each of which may have one of its own', async () => {
    const { store } = started.gateway
    const { id } = await createAccount(
      store,
      { name: 'Research', models: ['*'], rateClass: null, budgets: ['1 USD/week'] },
      GATEWAY,
    )
    const one = await started.gateway.key({ account: id, budgets: ['0.50 USD/day'] })
    const two = await started.gateway.key({ account: id })
    expect(await statuses(one, 3)).to.deep.equal([200, 200, 429])
    expect(await statuses(two, 3)).to.deep.equal([200, 200, 429])
    expect(await (await ask(two)).text()).to.contain('of the budget of your account, 1 USD/week')
    // A call that one budget refuses takes nothing of the other.
    await editAccount(store, { id, budgets: ['1.25 USD/week'] }, GATEWAY)
    expect(await statuses(one, 2)).to.deep.equal([429, 429])
    expect(await statuses(two, 2)).to.deep.equal([200, 429])
  })

  it('is charged what the call has cost, not what it might have', async () => {
    const key = await keyWith('1 USD/day')
    // Up to 0.50 USD each; 0.10 USD.
    expect(await statuses(key, 7, { model: 'up/token', max_tokens: 500 })).to.deep.equal([200, 200, 200, 200, 200, 200, 429])
    expect(await statuses(key, 1, { model: 'up/token', max_tokens: 400 })).to.deep.equal([200])
  })

  it('is charged the cost of a stream', async () => {
    const key = await keyWith('0.30 USD/day')
    const body = { model: 'up/token', max_tokens: 100, stream: true }
    expect(await statuses(key, 4, body)).to.deep.equal([200, 200, 200, 429])
  })

  it('is charged the answers that a call may ask for before the first of them', async () => {
    const key = await keyWith('1 USD/day')
    expect(await statuses(key, 1, { model: 'up/token', max_tokens: 300, n: 4 })).to.deep.equal([429])
    expect(priced.upstream.requests).to.have.length(0)
  })

  it('caps the answers of calls that set no cap, so that each costs at most a tenth of what is left, and tells by a header', async () => {
    const key = await keyWith('20 USD/day')
    const reply = await ask(key, { model: 'up/token' })
    // Of 20 USD, at 0.001 USD a token.
    expect([reply.status, reply.headers.get('x-umg-output-cap')]).to.deep.equal([200, '1999'])
    const [request] = priced.upstream.requests
    expect(request!.json()).to.include({ max_tokens: 1999, model: 'token' })
    expect(await statuses(key, 1, { model: 'up/token', max_completion_tokens: 5 })).to.deep.equal([200])
    expect(priced.upstream.requests[1]!.json()).to.not.have.property('max_tokens')
  })

  it('caps the answers of calls that set no cap by all that is left, if that is little, and refuses them if it is too little', async () => {
    const little = await ask(await keyWith('0.60 USD/day'), { model: 'up/token' })
    expect([little.status, little.headers.get('x-umg-output-cap')]).to.deep.equal([200, '599'])
    expect(await statuses(await keyWith('0.25 USD/day'), 1, { model: 'up/token' })).to.deep.equal([429])
  })

  it('of nobody changes no call', async () => {
    const reply = await ask(started.gateway.liveKey, { model: 'up/token' })
    expect([reply.status, reply.headers.get('x-umg-output-cap')]).to.deep.equal([200, null])
    expect(priced.upstream.requests[0]!.json()).to.have.all.keys('model', 'messages')
  })

  it('counts the tokens of a prompt that is too large by its bytes', async () => {
    // 10,000 by its bytes, some hundred in truth.
    const key = await keyWith('2 USD/day')
    const content = ' '.repeat(40_000)
    expect(await statuses(key, 1, { model: 'up/prompt', messages: [{ role: 'user', content }] })).to.deep.equal([200])
  })

  it('is charged the prompt of a call whose client leaves', async () => {
    const key = await keyWith('1 USD/day')
    const held = hold()
    priced.upstream.on(() => [held, ...json(openaiReply({ text: 'late' }).whole)])
    const client = new AbortController()
    const content = 'word '.repeat(500)
    const left = ask(key, { model: 'up/prompt', messages: [{ role: 'user', content }], signal: client.signal })
    await held.reached
    client.abort()
    await left.catch(() => undefined)
    await started.gateway.logged(({ outcome }) => outcome === 'client_closed')
    held.release()
    const reply = await ask(key, { model: 'up/prompt', messages: [{ role: 'user', content }] })
    expect(reply.status).to.equal(429)
    expect(await reply.text()).to.match(/0\.3\d+ USD is left/)
  })

  it('is charged for a call that times out what came by then: nothing before the first byte', async () => {
    await started.gateway.stop()
    const { namespaces, ...routes } = priced.routes() as { readonly namespaces: { readonly up: object } }
    const up = { ...namespaces.up, timeouts: { firstByte: '100ms', idle: '100ms' } }
    started = await startBudgetGateway({ routes: { ...routes, namespaces: { ...namespaces, up } } })
    const key = await keyWith('1 USD/day')
    const lineOf = async (body: object) => {
      const reply = await started.ask(key, { model: 'up/token', max_tokens: 900, ...body })
      // A stream that stalls breaks off.
      await reply.text().catch(() => undefined)
      return started.gateway.logged(({ id }) => id === reply.headers.get('x-request-id'))
    }
    priced.upstream.on(() => [hold()])
    for (const stream of [false, true]) {
      const line = await lineOf({ stream })
      expect(line).to.include({ outcome: 'timeout', error: 'upstream_timeout' })
      expect(line).to.not.have.any.keys('tokens', 'costUsd')
    }
    const text = 'word '.repeat(200)
    const events = openaiReply({ text }).stream.filter((event) => event !== DONE)
    priced.upstream.on(() => sse([...events.slice(0, -1), hold()]))
    const line = await lineOf({ stream: true })
    expect(line).to.include({ outcome: 'timeout', estimated: true })
    expect(line.costUsd).to.be.within(0.25, 0.35)
  })

  it('gives back what a call that failed was charged', async () => {
    const key = await keyWith('0.25 USD/day')
    priced.upstream.reply(json({}, { status: 400 }))
    expect(await statuses(key, 1)).to.deep.equal([400])
    expect(await statuses(key, 2)).to.deep.equal([200, 429])
  })

  it('that is spent lets free models and the sandbox through, unless a fallback costs something', async () => {
    const key = await keyWith('0.25 USD/day')
    expect(await statuses(key, 2)).to.deep.equal([200, 429])
    expect(await statuses(key, 1, { model: 'up/free' })).to.deep.equal([200])
    expect(await statuses(key, 1, { model: 'sandbox/hello' })).to.deep.equal([200])
    expect(await statuses(key, 1, { model: 'acme/either' })).to.deep.equal([429])
  })

  it('holds for a model without a price, whose calls are refused', async () => {
    const reply = await ask(await keyWith('1 USD/day'), { model: 'up/unknown' })
    expect(reply.status).to.equal(403)
    expect(reply.headers.get('x-should-retry')).to.equal('false')
    expect(await reply.json()).to.have.nested.property('error.code', 'price_unknown')
    expect(await statuses(started.gateway.liveKey, 1, { model: 'up/unknown' })).to.deep.equal([200])
  })

  it('holds for a model without a price, whose calls cost what routes.yaml says', async () => {
    await started.gateway.stop()
    const routes = priced.routes({ prices: { unpriced: { input: 0, output: 1000 } } })
    started = await startBudgetGateway({ routes })
    const key = await keyWith('0.20 USD/day')
    const body = { model: 'up/unknown', max_tokens: 100 }
    expect(await started.statuses(key, 3, body)).to.deep.equal([200, 200, 429])
  })

  it('goes on when its key is rotated', async () => {
    const { store } = started.gateway
    const { key, secret } = await createKey(store, { name: 'ci', kind: 'live', budgets: ['1 USD/month'] })
    expect(await statuses(secret, 2)).to.deep.equal([200, 200])
    const next = await rotateKey(store, { id: key.id, overlap: 3_600_000 }, GATEWAY)
    expect(next.key.budgets).to.deep.equal(['1 USD/month'])
    expect(await statuses(next.secret, 1)).to.deep.equal([200])
    expect(await statuses(secret, 2)).to.deep.equal([200, 429])
    expect(await statuses(next.secret, 1)).to.deep.equal([429])
  })

  it('that is raised, lowered or removed takes effect at once', async () => {
    const { store } = started.gateway
    const { key, secret } = await createKey(store, { name: 'ci', kind: 'live', budgets: ['0.25 USD/month'] })
    expect(await statuses(secret, 2)).to.deep.equal([200, 429])
    await editKey(store, { id: key.id, budgets: ['0.75 USD/month'] }, GATEWAY)
    expect(await statuses(secret, 1)).to.deep.equal([200])
    await editKey(store, { id: key.id, budgets: ['0.50 USD/month'] }, GATEWAY)
    expect(await statuses(secret, 1)).to.deep.equal([429])
    await editKey(store, { id: key.id, budgets: [] }, GATEWAY)
    expect(await statuses(secret, 2)).to.deep.equal([200, 200])
  })
})
