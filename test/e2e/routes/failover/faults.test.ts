import { expect } from 'chai'
import { type Failure, MODEL_NOT_FOUND, unknownModel } from '../../upstream-faults/failures.ts'
import { BAD_BEGINNINGS } from '../../upstream-faults/faults/answering.ts'
import { REFUSALS } from '../../upstream-faults/faults/refusals.ts'
import { BAD_REPLIES, FLOODS, MISMATCHES } from '../../upstream-faults/faults/whole-replies.ts'
import { expectStatus, type Fault } from '../../upstream-faults/witness.ts'
import { curated, type Pair, startPair } from './pair.ts'
import { EVERY_WAY, expectSdkContent, expectServedBySecond, type Way } from './witness.ts'

/** Where the table names the model, it is the operator's affair that it does not exist. */
const inTable = (fault: Fault): Fault => (fault.failure === unknownModel ? { ...fault, failure: MODEL_NOT_FOUND } : fault)

const isClients = ({ failure }: { readonly failure: Failure }): boolean => failure.outcome === 'client_error'

const FAULTS = [...BAD_BEGINNINGS, ...BAD_REPLIES, ...REFUSALS].map(inTable).filter((fault) => !isClients(fault))

/** Each on targets of its own: refusals make one rest. */
const ROWS: readonly { readonly fault: Fault; readonly way: Way }[] = [
  ...FAULTS.flatMap((fault) => EVERY_WAY.map((way) => ({ fault, way }))),
  ...MISMATCHES.flatMap((fault) => EVERY_WAY.filter(({ stream }) => stream === fault.stream).map((way) => ({ fault, way }))),
]

describe('a call goes on to the second target, whose clean reply is all that the client has, where the first', () => {
  let pair: Pair
  before(async () => {
    pair = await startPair({ models: ROWS.length })
  })
  after(() => pair.stop())

  for (const [number, { fault, way }] of ROWS.entries()) {
    it(`${fault.name}: ${way.name}`, async () => {
      await expectServedBySecond(pair, way, { ...fault, number })
      if (fault.failure !== MODEL_NOT_FOUND) return
    })
  }
})
