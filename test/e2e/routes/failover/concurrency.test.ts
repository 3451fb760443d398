import { expect } from 'chai'
import { type Hold, hold, json, sse } from '../../../../core/testing/kit.ts'
import { openai } from '../../sdk/openai-dialect.ts'
import { cleanReply, hitsSince } from './assertions.ts'
import { call, healthOf, type Reply, servedBy, untilInFlight } from './client.ts'
import { type FailoverFixture, startFailover } from './fixture.ts'

const limited = (origin: string, concurrency: object, breaker = false) => ({
  provider: 'openai-compatible',
  config: { baseUrl: `${origin}/v1` },
  concurrency,
  breaker,
})

const fallingBackTo = (model: string, from: string) => ({ models: { m: { targets: [{ model: from }], fallbacks: [model] } } })

describe('An upstream with a concurrency limit', () => {
  let fixture: FailoverFixture
  before(async () => {
    fixture = await startFailover({
      others: ({ first }) => ({
        one: limited(first, { limit: 1, wait: '1m', queue: 2 }),
        full: limited(first, { limit: 1, queue: 0 }),
        brief: limited(first, { limit: 1, wait: '30ms' }),
        sick: limited(first, { limit: 1, wait: '1m', queue: 9 }, true),
        spilling: fallingBackTo('open-second/m', 'full/m'),
        crowded: fallingBackTo('full/m', 'brief/m'),
        giving: fallingBackTo('open-second/m', 'brief/m'),
      }),
    })
    fixture.second.on(() => cleanReply(openai, false))
  })
  after(() => fixture?.stop())

  /** Has the upstream serve when it is told to, and takes a place at it. */
  async function occupied(model: string): Promise<{ readonly door: Hold; readonly first: Promise<Reply> }> {
    const door = hold()
    fixture.first.on(() => [door, ...cleanReply(openai, false)])
    const first = call(fixture, { model })
    await door.reached
    return { door, first }
  }

  it('queues further calls, and serves them when a place is free', async () => {
    const asked = hitsSince(fixture.first)
    const { door, first } = await occupied('one/m')
    const others = [call(fixture, { model: 'one/m' }), call(fixture, { model: 'one/m' })]
    await untilInFlight(fixture, 'one', 3)
    expect(asked(), 'requests while the place is taken').to.deep.equal([1])
    door.release()
    const statuses = (await Promise.all([first, ...others])).map(({ status }) => status)
    expect(statuses).to.deep.equal([200, 200, 200])
    expect(asked()).to.deep.equal([3])
  })

  for (const [model, why] of Object.entries({ 'full/m': 'too many wait', 'brief/m': 'it has waited too long' })) {
    it(`answers 503 with retry-after if ${why}`, async () => {
      const { door, first } = await occupied(model)
      const { status, code, headers } = await call(fixture, { model })
      expect([status, code, headers['retry-after']]).to.deep.equal([503, 'upstream_overloaded', '1'])
      expect(headers).not.to.have.any.keys('x-should-retry', 'x-umg-attempts')
      door.release()
      expect((await first).status).to.equal(200)
      expect(await healthOf(fixture, model)).to.match(/^\[\+\] closed, 0 under way/)
    })
  }

  for (const [model, occupier] of Object.entries({ 'spilling/m': 'full/m', 'giving/m': 'brief/m' })) {
    it(`leaves a call to the next target if ${occupier} has no place`, async () => {
      const { door, first } = await occupied(occupier)
      expect(servedBy(await call(fixture, { model }))).to.equal('1 open-second')
      door.release()
      expect((await first).status).to.equal(200)
    })
  }

  it('counts no attempt if it is full: the SDK may retry if all targets are', async () => {
    const { door, first } = await occupied('full/m')
    const second = call(fixture, { model: 'brief/m' })
    await untilInFlight(fixture, 'brief', 1)
    const { status, headers } = await call(fixture, { model: 'crowded/m' })
    expect([status, headers['retry-after'], headers['x-should-retry']]).to.deep.equal([503, '1', undefined])
    door.release()
    expect([(await first).status, (await second).status]).to.deep.equal([200, 200])
  })

  it('frees its place after every kind of call: served, refused, broken', async () => {
    const scripts = [
      cleanReply(openai, false),
      json({}, { status: 500 }),
      json([]),
      sse(openai.events({ text: ['Hi'] }).slice(0, 2)),
    ]
    const asked = hitsSince(fixture.first)
    fixture.first.on(() => scripts[asked()[0]! - 1]!)
    for (const stream of [false, false, false, true]) await call(fixture, { model: 'full/m', stream })
    fixture.first.on(() => cleanReply(openai, false))
    expect((await call(fixture, { model: 'full/m' })).status).to.equal(200)
  })

  it('keeps the place of a stream until its end', async () => {
    const rest = hold()
    const events = openai.events({ text: ['Hel', 'lo'] })
    fixture.first.on(() => sse([...events.slice(0, 2), rest, ...events.slice(2)]))
    const streaming = call(fixture, { model: 'full/m', stream: true })
    await rest.reached
    expect((await call(fixture, { model: 'full/m' })).status).to.equal(503)
    rest.release()
    await streaming
    fixture.first.on(() => cleanReply(openai, false))
    expect((await call(fixture, { model: 'full/m' })).status).to.equal(200)
  })

  it('is not called by queued calls after its breaker has opened', async () => {
    const asked = hitsSince(fixture.first)
    const door = hold()
    fixture.first.on(() => [door, ...json(openai.error(500, 'No.'), { status: 500 })])
    const calls = Array.from({ length: 9 }, () => call(fixture, { model: 'sick/m' }))
    await untilInFlight(fixture, 'sick', 9)
    door.release()
    const statuses = (await Promise.all(calls)).map(({ status }) => status)
    expect(statuses.toSorted()).to.deep.equal([502, 502, 502, 502, 502, 503, 503, 503, 503])
    expect(asked()).to.deep.equal([5])
  })
})
