import { DONE, sse } from '../../../core/testing/kit.ts'
import { DIALECTS, type Fixture, startFixture } from '../sdk/fixture.ts'
import { CANARY, expectBrokenStream, expectStatus } from './assertions.ts'
import { BAD_EVENTS, beginning, CUTS, emptyAfter, SUDDEN } from './faults/broken-streams.ts'

describe('An upstream that breaks a stream', () => {
  let fixture: Fixture
  before(async () => {
    fixture = await startFixture()
  })
  after(() => fixture?.stop())

  for (const dialect of DIALECTS) {
    describe(`(${dialect.name})`, () => {
      for (const fault of CUTS) {
        it(`and ${fault.name} causes an error frame`, () =>
          expectBrokenStream(fixture, { dialect }, { ...fault, heard: /Once upon/ }))
      }
      for (const fault of SUDDEN) {
        it(`and ${fault.name} together with its first words causes an error status`, () =>
          expectStatus(fixture, { dialect, stream: true }, fault))
      }
      it('and sends only its end marker causes an error status', () => {
        const fault = emptyAfter(() => [])
        return expectStatus(fixture, { dialect, stream: true }, fault)
      })

      for (const { name, event, failure, retryAfter } of BAD_EVENTS) {
        it(`by ${name} causes an error frame`, () => {
          const script = () => sse([...beginning(dialect), event, ...dialect.events({ text: [CANARY] })])
          return expectBrokenStream(fixture, { dialect }, { name, script, failure, heard: /Once upon/ })
        })

        it(`by ${name} at its beginning causes an error status`, () => {
          const fault = { name, script: () => sse([event, DONE]), failure, ...(retryAfter && { retryAfter }) }
          return expectStatus(fixture, { dialect, stream: true }, fault)
        })
      }
    })
  }
})
