import { expect } from 'chai'
import { RST } from '../../../../core/testing/kit.ts'
import { openai } from '../../sdk/openai-dialect.ts'
import { namespaceAt, type OpenPlaces, openPlaces, PLACES } from '../../upstream-faults/faults/connecting.ts'
import { call, healthOf, servedBy } from './asking.ts'
import { type Pair, startPair } from './pair.ts'
import { cleanReply, hitsSince } from './witness.ts'

describe('the connection to the first of two targets', () => {
  let places: OpenPlaces
  let pair: Pair

  before(async () => {
    places = await openPlaces()
    const duo = (model: string) => ({ targets: [{ model }], fallbacks: ['open-second/m'] })
    const models = Object.fromEntries(PLACES.map((_, index) => [`m${index}`, duo(`${namespaceAt(index)}/m`)]))
    pair = await startPair({
      others: () => ({ ...places.namespaces, duo: { models: { ...models, kept: duo('open-first/m') } } }),
    })
  })
  after(async () => {
    await pair?.stop()
    places?.close()
  })

  for (const [index, { name, failure }] of PLACES.entries()) {
    it(`${name} is not made, the second serves, and the breaker counts it`, async () => {
      pair.second.on(() => cleanReply(openai, false))
      const asked = hitsSince(pair.second)
      const served = await Promise.all(Array.from({ length: 5 }, () => call(pair, { model: `duo/m${index}` })))
      expect(served.map(servedBy)).to.deep.equal(Array(5).fill('2 open-second'))
      expect(asked()).to.deep.equal([5])
      expect(await healthOf(pair, `${namespaceAt(index)}/m`)).to.match(/ (?:open|half_open)/)
      const hop = { from: `${namespaceAt(index)}/m`, to: 'open-second/m', reason: failure.result }
      expect(await pair.gateway.metric('umg_fallbacks_total', hop)).to.equal(5)
      expect(places.requests()).to.equal(0)
    })
  }

  it('that was closed as it is used again costs nothing: the first is asked once more, on a new one', async () => {
    const { first, second, gateway } = pair
    const asked = hitsSince(second)
    first.on(({ turn }) => (turn === 1 ? cleanReply(openai, false) : [RST]))
    const served: string[] = []
    for (let calls = 0; calls < 2; calls++) served.push(servedBy(await call(pair, { model: 'duo/kept' })))
    expect(served).to.deep.equal(['1 open-first', '2 open-first'])
    expect(first.requests.map(({ connection, turn }) => `${connection}.${turn}`)).to.deep.equal(['1.1', '1.2', '2.1'])
    expect(asked()).to.deep.equal([0])
    expect(await healthOf(pair, 'open-first/m')).to.match(/^\[\+\] closed/)
    expect(await gateway.metric('umg_fallbacks_total', { from: 'open-first/m' })).to.equal(0)
  })
})
