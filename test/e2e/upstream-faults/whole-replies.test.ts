import { type Fixture, startFixture } from '../sdk/fixture.ts'
import { openai } from '../sdk/openai-dialect.ts'
import { EVERY_WAY, expectStatus } from './assertions.ts'
import { BAD_REPLIES, FLOODS, MISMATCHES } from './faults/whole-replies.ts'

describe('An upstream with an invalid reply', () => {
  let fixture: Fixture
  before(async () => {
    fixture = await startFixture()
  })
  after(() => fixture?.stop())

  for (const fault of BAD_REPLIES) {
    for (const asked of EVERY_WAY) it(`${fault.name}: ${asked.name}`, () => expectStatus(fixture, asked, fault))
  }
  for (const fault of FLOODS) it(fault.name, () => expectStatus(fixture, { dialect: openai, stream: false }, fault))
  for (const fault of MISMATCHES) {
    for (const asked of EVERY_WAY.filter(({ stream }) => stream === fault.stream)) {
      it(`${fault.name}: ${asked.name}`, () => expectStatus(fixture, asked, fault))
    }
  }
})
