import { expect } from 'chai'
import { RST } from '../../../../core/testing/kit.ts'
import { openai } from '../../sdk/openai-dialect.ts'
import { namespaceAt, type OpenPlaces, openPlaces, PLACES } from '../../upstream-faults/faults/connecting.ts'
import { cleanReply, hitsSince } from './assertions.ts'
import { call, healthOf, servedBy } from './client.ts'
import { type FailoverFixture, startFailover } from './fixture.ts'

describe('The connection to the first of two targets', () => {
  let places: OpenPlaces
  let fixture: FailoverFixture

  before(async () => {
    places = await openPlaces()
    const duo = (model: string) => ({ targets: [{ model }], fallbacks: ['open-second/m'] })
    const models = Object.fromEntries(PLACES.map((_, index) => [`m${index}`, duo(`${namespaceAt(index)}/m`)]))
    fixture = await startFailover({
      others: () => ({ ...places.namespaces, duo: { models: { ...models, kept: duo('open-first/m') } } }),
    })
  })
  after(async () => {
    await fixture?.stop()
    places?.close()
  })

  for (const [index, { name, failure }] of PLACES.entries()) {
    it(`${name} fails: the second serves, and the breaker counts it`, async () => {
      fixture.second.on(() => cleanReply(openai, false))
      const asked = hitsSince(fixture.second)
      const served = await Promise.all(Array.from({ length: 5 }, () => call(fixture, { model: `duo/m${index}` })))
      expect(served.map(servedBy)).to.deep.equal(Array(5).fill('2 open-second'))
      expect(asked()).to.deep.equal([5])
      expect(await healthOf(fixture, `${namespaceAt(index)}/m`)).to.match(/ (?:open|half_open)/)
      const hop = { from: `${namespaceAt(index)}/m`, to: 'open-second/m', reason: failure.result }
      expect(await fixture.gateway.metric('umg_fallbacks_total', hop)).to.equal(5)
      expect(places.requests()).to.equal(0)
    })
  }

  it('is replaced if it closes on reuse: the first target is called again', async () => {
    const { first, second, gateway } = fixture
    const asked = hitsSince(second)
    first.on(({ turn }) => (turn === 1 ? cleanReply(openai, false) : [RST]))
    const served: string[] = []
    for (let calls = 0; calls < 2; calls++) served.push(servedBy(await call(fixture, { model: 'duo/kept' })))
    expect(served).to.deep.equal(['1 open-first', '2 open-first'])
    expect(first.requests.map(({ connection, turn }) => `${connection}.${turn}`)).to.deep.equal(['1.1', '1.2', '2.1'])
    expect(asked()).to.deep.equal([0])
    expect(await healthOf(fixture, 'open-first/m')).to.match(/^\[\+\] closed/)
    expect(await gateway.metric('umg_fallbacks_total', { from: 'open-first/m' })).to.equal(0)
  })
})
