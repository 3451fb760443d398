import { expect } from 'chai'
import { hold, json } from '../../../../core/testing/kit.ts'
import { openai } from '../../sdk/openai-dialect.ts'
import { cleanReply } from './assertions.ts'
import { call, servedBy, untilInFlight } from './client.ts'
import { type FailoverFixture, startFailover } from './fixture.ts'

const shared = (more: object) => ({
  models: { m: { targets: [{ model: 'open-first/m' }, { model: 'open-second/m' }], ...more } },
})

describe('Two targets with weights', () => {
  let fixture: FailoverFixture

  beforeEach(async () => {
    fixture = await startFailover({
      namespace: { breaker: false },
      others: () => ({
        'by-key': shared({ sticky: 'key' }),
        'by-user': shared({ sticky: 'user' }),
        'by-busy': shared({ choose: 'busy' }),
      }),
    })
    for (const upstream of [fixture.first, fixture.second]) upstream.on(() => cleanReply(openai, false))
  })
  afterEach(() => fixture?.stop())

  /** Who serves each call, all of them made at once. */
  const serving = async (requests: readonly Parameters<typeof call>[1][], key?: string): Promise<string[]> =>
    (await Promise.all(requests.map((request) => call(fixture, request, key)))).map(servedBy)

  it('are sticky by key', async () => {
    for (let count = 0; count < 4; count++) {
      const served = await serving(Array(6).fill({ model: 'by-key/m' }), await fixture.gateway.key())
      expect(new Set(served).size).to.equal(1)
    }
  })

  it('are sticky by user, with both serving some users', async () => {
    const requests = Array.from({ length: 20 }, (_, number) => ({ model: 'by-user/m', user: `user-${number}` }))
    const served = await serving(requests)
    expect(await serving(requests)).to.deep.equal(served)
    expect(new Set(served)).to.deep.equal(new Set(['1 open-first', '1 open-second']))
  })

  it('replace each other when one fails', async () => {
    const requests = Array.from({ length: 20 }, (_, number) => ({ model: 'by-user/m', user: `user-${number}` }))
    const served = await serving(requests)
    fixture.first.on(() => json(openai.error(500, 'No.'), { status: 500 }))
    const expected = served.map((each) => (each === '1 open-first' ? '2 open-second' : each))
    expect(await serving(requests)).to.deep.equal(expected)
  })

  it('are chosen by the fewest calls in flight', async () => {
    const door = hold()
    for (const upstream of [fixture.first, fixture.second]) upstream.reply([door, ...cleanReply(openai, false)])
    const busy = call(fixture, { model: 'by-busy/m' })
    await door.reached
    const next = call(fixture, { model: 'by-busy/m' })
    await untilInFlight(fixture, 'by-busy', 2)
    door.release()
    await Promise.all([busy, next])
    expect([fixture.first.requests.length, fixture.second.requests.length]).to.deep.equal([1, 1])
  })
})
