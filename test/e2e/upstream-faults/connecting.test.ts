import { expect } from 'chai'
import { type Fixture, startFixture } from '../sdk/fixture.ts'
import { openai } from '../sdk/openai-dialect.ts'
import { expectStatus } from './assertions.ts'
import { namespaceAt, type OpenPlaces, openPlaces, PLACES } from './faults/connecting.ts'

describe('An unreachable upstream', () => {
  let places: OpenPlaces
  let fixture: Fixture

  before(async () => {
    places = await openPlaces()
    fixture = await startFixture({ others: places.namespaces })
  })

  after(async () => {
    await fixture?.stop()
    await places?.close()
  })

  for (const [index, { name, failure }] of PLACES.entries()) {
    for (const stream of [false, true]) {
      it(`${name} causes an error status, and gets no credential: ${stream ? 'streamed' : 'whole'}`, async () => {
        await expectStatus(fixture, { dialect: openai, stream, namespace: namespaceAt(index) }, { name, failure })
        expect(places.requests()).to.equal(0)
      })
    }
  }
})
