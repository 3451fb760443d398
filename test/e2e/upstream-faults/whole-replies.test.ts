import { openai } from '../sdk/openai-dialect.ts'
import { type Stage, startStage } from '../sdk/stage.ts'
import { BAD_REPLIES, FLOODS, MISMATCHES } from './faults/whole-replies.ts'
import { EVERY_WAY, expectStatus } from './witness.ts'

describe('an upstream whose reply is none', () => {
  let stage: Stage
  before(async () => {
    stage = await startStage()
  })
  after(() => stage?.stop())

  for (const fault of BAD_REPLIES) {
    for (const asked of EVERY_WAY) it(`${fault.name}: ${asked.name}`, () => expectStatus(stage, asked, fault))
  }
  for (const fault of FLOODS) it(fault.name, () => expectStatus(stage, { dialect: openai, stream: false }, fault))
  for (const fault of MISMATCHES) {
    for (const asked of EVERY_WAY.filter(({ stream }) => stream === fault.stream)) {
      it(`${fault.name}: ${asked.name}`, () => expectStatus(stage, asked, fault))
    }
  }
})
