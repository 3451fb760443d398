import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { FIN, type Hold, hold, json, type Step, sse } from '../../../../core/testing/kit.ts'
import { reloadAfter, replaceFile } from '../../reload/reloading.ts'
import { openai } from '../../sdk/openai-dialect.ts'
import { cleanReply, hitsSince } from './assertions.ts'
import { call, healthOf, leave, servedBy, untilHealth } from './client.ts'
import { type FailoverFixture, startFailover } from './fixture.ts'

const refusing = (status: number, headers: Record<string, string> = {}): Step[] =>
  json(openai.error(status, 'No.'), { status, headers })

const events = openai.events({ text: ['Once upon', ' a time'] })

/** How a target fares after five tries, by how they went. */
interface Row {
  readonly name: string
  readonly script: () => Step[]
  readonly stream?: true
  readonly breaker: 'open' | 'closed'
  /** Whether it is asked after others. */
  readonly rests?: true
}

const ROWS: readonly Row[] = [
  { name: 'were cut off', script: () => [FIN], breaker: 'open' },
  { name: 'got an invalid reply', script: () => json([]), breaker: 'open' },
  { name: 'took too long', script: () => [hold()], breaker: 'open' },
  { name: 'met an error', script: () => refusing(500), breaker: 'open' },
  { name: 'met an overload', script: () => refusing(529), breaker: 'open' },
  { name: 'broke off in the middle', script: () => sse(events.slice(0, 2)), stream: true, breaker: 'open' },
  { name: 'met a rate limit', script: () => refusing(429, { 'retry-after': '30' }), breaker: 'closed', rests: true },
  { name: 'were refused for the credential', script: () => refusing(401), breaker: 'closed', rests: true },
  { name: 'met an empty account', script: () => refusing(402), breaker: 'closed', rests: true },
  { name: 'asked for an unknown model', script: () => refusing(404), breaker: 'closed' },
  { name: 'were answered 425', script: () => refusing(425), breaker: 'closed' },
  { name: 'were invalid', script: () => refusing(400), breaker: 'closed' },
  { name: 'ended without their end marker', script: () => sse(events.slice(0, -1)), stream: true, breaker: 'closed' },
  { name: 'got no usage', script: () => json({ ...openai.whole({}), usage: null }), breaker: 'closed' },
]

describe('The health of a target', () => {
  let fixture: FailoverFixture
  before(async () => {
    fixture = await startFailover({ models: ROWS.length, firstNamespace: { timeouts: { firstByte: '200ms' } } })
  })
  after(() => fixture?.stop())

  for (const [number, { name, script, stream = false, breaker, rests = false }] of ROWS.entries()) {
    it(`is in /readyz and the metrics after five calls that ${name}`, async () => {
      const { gateway, first } = fixture
      first.on(script)
      const target = { namespace: 'open-first', model: `m${number}` }
      const model = `${target.namespace}/${target.model}`
      await Promise.all(Array.from({ length: 5 }, () => call(fixture, { model, stream })))
      // After a second an open breaker is ready for a probe.
      const line = await healthOf(fixture, model)
      expect(line).to.match(
        breaker === 'open'
          ? /(?: open, next attempt in 1 s| half_open)/
          : rests
            ? / closed, cooling down for \d\d s/
            : / closed, 0/,
      )
      expect(await gateway.metric('umg_circuit_state', { ...target, state: breaker })).to.equal(1)
      expect(await gateway.metric('umg_circuit_state', target)).to.equal(1)
    })
  }
})

describe('The circuit breaker of the first of two targets', () => {
  const target = 'open-first/m'
  let fixture: FailoverFixture

  beforeEach(async () => {
    fixture = await startFailover({
      others: () => ({
        duo: { models: { m: { targets: [{ model: target }], fallbacks: ['open-second/m'] } } },
        alone: { models: { m: { targets: [{ model: target }], retry: { attempts: 2 } } } },
      }),
    })
    fixture.second.on(() => cleanReply(openai, false))
  })
  afterEach(() => fixture?.stop())

  const callDuo = async (): Promise<string> => servedBy(await call(fixture, { model: 'duo/m' }))

  async function open(): Promise<void> {
    fixture.first.on(() => refusing(500))
    for (let count = 0; count < 5; count++) expect(await callDuo()).to.equal('2 open-second')
  }

  it('keeps calls away when open, and logs that', async () => {
    const { first, gateway } = fixture
    await open()
    const asked = hitsSince(first)
    expect(await callDuo()).to.equal('1 open-second')
    const { status, code, headers } = await call(fixture, { model: target })
    expect([status, code, headers['retry-after'], headers['x-umg-attempts']]).to.deep.equal([
      503,
      'upstream_overloaded',
      '1',
      undefined,
    ])
    expect(asked()).to.deep.equal([0])
    expect(await gateway.logged(({ msg }) => msg === 'circuit open')).to.include({
      level: 'warn',
      namespace: 'open-first',
      model: 'm',
    })
  })

  it('keeps away the second attempts of calls that paused when it opened', async () => {
    const { first } = fixture
    const all = hold()
    first.on(() => [all, ...refusing(500)])
    const asked = hitsSince(first)
    const calls = Array.from({ length: 5 }, () => call(fixture, { model: 'alone/m' }))
    await untilHealth(fixture, target, / 5 under way/)
    all.release()
    expect((await Promise.all(calls)).map(({ status }) => status)).to.not.include(200)
    expect(asked()).to.deep.equal([5])
  })

  it('admits one probe after a while, and closes when it succeeds', async () => {
    const { first, gateway } = fixture
    await open()
    await untilHealth(fixture, target, /half_open/)
    const probed = hold()
    first.on(() => [probed, ...cleanReply(openai, false)])
    const asked = hitsSince(first)
    const probe = callDuo()
    await probed.reached
    const others = await Promise.all(Array.from({ length: 10 }, callDuo))
    expect(others).to.deep.equal(Array(10).fill('1 open-second'))
    expect(asked()).to.deep.equal([1])
    probed.release()
    expect(await probe).to.equal('1 open-first')
    expect(await callDuo()).to.equal('1 open-first')
    expect(await healthOf(fixture, target)).to.match(/^\[\+\] closed/)
    await gateway.logged(({ msg }) => msg === 'circuit closed')
  })

  it('keeps its state over a reload that does not change its namespace', async () => {
    const { first, gateway } = fixture
    await open()
    const path = join(gateway.folder, 'routes.yaml')
    const text = await readFile(path, 'utf8')
    const reload = await reloadAfter(gateway, () => replaceFile(path, text.replace('duo:', 'pair:')))
    expect(reload.ok, reload.diagnostics).to.equal(true)
    const asked = hitsSince(first)
    expect(servedBy(await call(fixture, { model: 'pair/m' }))).to.equal('1 open-second')
    expect(asked()).to.deep.equal([0])
  })

  it('is not opened by clients that disconnect in any phase', async () => {
    const { first } = fixture
    const scripts = [
      (stall: Hold): Step[] => [stall],
      (stall: Hold): Step[] => sse([stall]),
      (stall: Hold): Step[] => sse([...events.slice(0, 1), stall]),
      (stall: Hold): Step[] => sse([...events.slice(0, 2), stall]),
    ]
    for (let count = 0; count < 12; count++) {
      const stall = hold()
      first.on(() => scripts[count % scripts.length]!(stall))
      await leave(fixture, { model: 'duo/m', stream: true }, () => stall.reached)
    }
    expect(await healthOf(fixture, target)).to.match(/^\[\+\] closed, 0 under way/)
  })

  it('admits another probe if the client of the first has disconnected', async () => {
    const { first } = fixture
    await open()
    await untilHealth(fixture, target, /half_open/)
    const stall = hold()
    first.on(() => [stall])
    await leave(fixture, { model: 'duo/m' }, () => stall.reached)
    first.on(() => cleanReply(openai, false))
    expect(await callDuo()).to.equal('1 open-first')
  })
})
