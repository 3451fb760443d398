import { expect } from 'chai'
import type { Dialect } from '../../sdk/dialect.ts'
import { openai } from '../../sdk/openai-dialect.ts'
import { expectStatus, type Fault } from '../../upstream-faults/assertions.ts'
import { MODEL_NOT_FOUND, unknownModel } from '../../upstream-faults/failures.ts'
import { BAD_BEGINNINGS } from '../../upstream-faults/faults/answering.ts'
import { REFUSALS } from '../../upstream-faults/faults/refusals.ts'
import { BAD_REPLIES, FLOODS, MISMATCHES } from '../../upstream-faults/faults/whole-replies.ts'
import { EVERY_WAY, expectServedBySecond, hitsSince } from './assertions.ts'
import { curated, type FailoverFixture, startFailover } from './fixture.ts'
import { numbersFor } from './model-numbers.ts'

/** An unknown model is the operator's error if routes.yaml names the model. */
const inTable = (fault: Fault): Fault => (fault.failure === unknownModel ? { ...fault, failure: MODEL_NOT_FOUND } : fault)

const isClients = ({ failure }: Fault): boolean => failure.outcome === 'client_error'

const ALL = [...BAD_BEGINNINGS, ...BAD_REPLIES, ...REFUSALS, ...MISMATCHES].map(inTable)
const [FLOOD] = FLOODS
const FAULTS = ALL.filter((fault) => !isClients(fault))
const NUMBERS = numbersFor(FAULTS)

describe('A call whose first target', () => {
  let fixture: FailoverFixture
  before(async () => {
    fixture = await startFailover({ models: NUMBERS.models, namespace: { breaker: false } })
  })
  after(() => fixture?.stop())

  for (const fault of FAULTS) {
    for (const way of EVERY_WAY) {
      if ('stream' in fault && fault.stream !== way.stream) continue

      it(`${fault.name} is served by the second: ${way.name}`, () =>
        expectServedBySecond(fixture, way, { ...fault, number: NUMBERS.of(fault, way.stream) }))
    }
  }

  /** Expects the client to get the first target's error. */
  async function expectNoSecond(dialect: Dialect, stream: boolean, fault: Fault): Promise<void> {
    const { gateway, first, second } = fixture
    const secondAsked = hitsSince(second)
    await expectStatus({ gateway, upstream: () => first }, { dialect, stream, namespace: curated(dialect) }, fault)
    expect(secondAsked()).to.deep.equal([0])
  }

  for (const fault of ALL.filter(isClients)) {
    for (const { dialect, stream, name } of EVERY_WAY) {
      it(`${fault.name} gets this error, because the second would refuse it too: ${name}`, () =>
        expectNoSecond(dialect, stream, fault))
    }
  }

  it(`${FLOOD!.name} gets this error, because the second reply would be as large`, () => expectNoSecond(openai, false, FLOOD!))
})
