import { expect } from 'chai'
import { INVALID, MODEL_NOT_FOUND, unknownModel } from '../../upstream-faults/failures.ts'
import { BAD_BEGINNINGS } from '../../upstream-faults/faults/answering.ts'
import { REFUSALS } from '../../upstream-faults/faults/refusals.ts'
import { BAD_REPLIES, FLOODS, MISMATCHES } from '../../upstream-faults/faults/whole-replies.ts'
import { expectStatus, type Fault, post } from '../../upstream-faults/witness.ts'
import { curated, type Pair, startPair } from './pair.ts'
import { EVERY_WAY, expectSdkContent, expectServedBySecond, hitsSince } from './witness.ts'

/** Where the table names the model, it is the operator's affair that it does not exist. */
const named = (fault: Fault): Fault => (fault.failure === unknownModel ? { ...fault, failure: MODEL_NOT_FOUND } : fault)

const isFinal = ({ failure }: Fault): boolean => failure.outcome === 'client_error'

const ROWS: readonly Fault[] = [...BAD_BEGINNINGS, ...BAD_REPLIES, ...REFUSALS].map(named).filter((fault) => !isFinal(fault))

const FINAL: readonly Fault[] = REFUSALS.map(named).filter(isFinal)

describe('the first of two targets', () => {
  let pair: Pair
  before(async () => {
    pair = await startPair({ models: ROWS.length })
  })
  after(() => pair.stop())

  for (const [number, fault] of ROWS.entries()) {
    for (const way of EVERY_WAY) {
      it(`${fault.name}, and the second serves: ${way.name}`, async () => {
        await expectServedBySecond(pair, way, { ...fault, number })
      })
    }
  }
})
