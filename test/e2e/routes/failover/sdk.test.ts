import { expect } from 'chai'
import { APIError } from 'openai'
import { FIN, json, type Step, sse } from '../../../../core/testing/kit.ts'
import type { Dialect } from '../../sdk/dialect.ts'
import {
  AUTHENTICATION,
  DISCONNECTED,
  ERROR,
  type Failure,
  INVALID,
  OVERLOADED,
  RATE_LIMITED,
  rejected,
} from '../../upstream-faults/failures.ts'
import { announcement } from '../../upstream-faults/faults/broken-streams.ts'
import { cleanReply, EVERY_WAY, hitsSince, sdkText, TEXT, type Way } from './assertions.ts'
import { type FailoverFixture, otherThan, startFailover } from './fixture.ts'

type Answer = (dialect: Dialect, stream: boolean) => Step[]

const refusing =
  (status: number, headers: Record<string, string> = {}): Answer =>
  ({ error }) =>
    json(error(status, 'No.'), { status, headers })

/** One of each kind of failure. */
const KINDS: Readonly<Record<string, Answer>> = {
  'is lost before it answers': () => [FIN],
  'answers nonsense': (dialect, stream) => (stream ? sse([...announcement(dialect), 'data: nonsense\n\n']) : json([])),
  'has an error': refusing(500),
  'is overloaded': refusing(529),
  'limits the rate': refusing(429),
  'refuses the credential': refusing(401),
  'does not have the model': refusing(404),
}

interface Spent {
  readonly name: string
  readonly first: Answer
  readonly second: Answer
  readonly failure: Failure
  readonly retryAfter?: string
}

/** Both targets fail: what of it the client hears. */
const SPENT: readonly Spent[] = [
  { name: 'an error after an overload', first: refusing(503), second: refusing(500), failure: ERROR },
  { name: 'an overload after an error', first: refusing(500), second: refusing(503), failure: OVERLOADED },
  { name: 'a second lost connection', first: () => [FIN], second: () => [FIN], failure: DISCONNECTED },
  { name: 'an invalid reply after an error', first: refusing(502), second: () => json([]), failure: INVALID },
  { name: 'a refused credential after an error', first: refusing(500), second: refusing(401), failure: AUTHENTICATION },
  { name: 'a refused request after an error', first: refusing(500), second: refusing(422), failure: rejected(422) },
  {
    name: 'a second rate limit, with the shorter time to wait',
    first: refusing(429, { 'retry-after': '7' }),
    second: refusing(429, { 'retry-after': '20' }),
    failure: RATE_LIMITED,
    retryAfter: '7',
  },
]

describe('The official SDK', () => {
  let fixture: FailoverFixture
  const rows = [...Object.keys(KINDS), ...SPENT]
  /** A curated model for each row, whole and streamed: what tires a target is not felt elsewhere. */
  const numberOf = (row: string | Spent, { stream }: Way): number => 2 * rows.indexOf(row) + Number(stream)

  before(async () => {
    fixture = await startFailover({ models: 2 * rows.length, namespace: { breaker: false }, route: { retry: { attempts: 2 } } })
  })
  after(() => fixture?.stop())

  for (const [name, answer] of Object.entries(KINDS)) {
    for (const way of EVERY_WAY) {
      it(`gets the reply of the second target if the first ${name}: ${way.name}`, async () => {
        const { first, second } = fixture
        first.on(() => [...answer(way.dialect, way.stream), FIN])
        second.on(() => cleanReply(otherThan(way.dialect), way.stream))
        const asked = hitsSince(first, second)
        expect(await sdkText(fixture, way, numberOf(name, way))).to.equal(TEXT)
        expect(asked()).to.deep.equal([1, 1])
      })
    }
  }

  for (const row of SPENT) {
    for (const way of EVERY_WAY) {
      it(`gets ${row.name} and does not retry after two attempts: ${way.name}`, async () => {
        const { first, second } = fixture
        first.on(() => [...row.first(way.dialect, way.stream), FIN])
        second.on(() => [...row.second(otherThan(way.dialect), way.stream), FIN])
        const asked = hitsSince(first, second)
        const error = await sdkText(fixture, way, numberOf(row, way)).catch((caught: unknown) => caught)
        expect(error).to.be.instanceOf(APIError)
        const { status, code, type, headers } = error as APIError
        expect({ status, code, type }).to.deep.equal({
          status: row.failure.status,
          code: row.failure.code,
          type: row.failure.type,
        })
        expect(headers!.get('x-should-retry')).to.equal('false')
        expect(headers!.get('x-umg-attempts')).to.equal('2')
        expect(headers!.get('retry-after')).to.equal(row.retryAfter ?? null)
        expect(asked()).to.deep.equal([1, 1])
      })
    }
  }
})
