import { expect } from 'chai'
import { openai } from '../sdk/openai-dialect.ts'
import { type Stage, startStage } from '../sdk/stage.ts'
import { namespaceAt, type OpenPlaces, openPlaces, PLACES } from './faults/connecting.ts'
import { expectStatus } from './witness.ts'

describe('an upstream that cannot be reached', () => {
  let places: OpenPlaces
  let stage: Stage

  before(async () => {
    places = await openPlaces()
    stage = await startStage({ others: places.namespaces })
  })

  after(async () => {
    await stage?.stop()
    places?.close()
  })

  for (const [index, { name, failure }] of PLACES.entries()) {
    for (const stream of [false, true]) {
      it(`${name} is told of by a status, and gets no credential: ${stream ? 'streamed' : 'whole'}`, async () => {
        await expectStatus(stage, { dialect: openai, stream, namespace: namespaceAt(index) }, { name, failure })
        expect(places.requests()).to.equal(0)
      })
    }
  }
})
