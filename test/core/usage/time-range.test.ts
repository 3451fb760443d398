import { expect } from 'chai'
import { GatewayError } from '../../../core/errors.ts'
import { stepsOf, type TimeRange, timeRangeOf } from '../../../core/usage/time-range.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const MIDNIGHT = Date.UTC(2026, 4, 17)

const INVALID: readonly (readonly [name: string, range: TimeRange])[] = [
  ['ends before it begins', { from: MIDNIGHT, to: MIDNIGHT - DAY_MS, step: 'day' }],
  ['ends when it begins', { from: MIDNIGHT, to: MIDNIGHT, step: 'day' }],
  ['has too many hours', { from: MIDNIGHT, to: MIDNIGHT + 7 * DAY_MS + 2 * HOUR_MS, step: 'hour' }],
  ['has too many days', { from: MIDNIGHT, to: MIDNIGHT + 402 * DAY_MS, step: 'day' }],
]

describe('a time range', () => {
  it('is the last seven days by default', () => {
    const now = Date.now()
    const { from, to, step } = timeRangeOf({})
    expect([to - from, step]).to.deep.equal([7 * DAY_MS, 'day'])
    expect(to).to.be.within(now, Date.now())
  })

  it('has steps of hours by default if it is short', () => {
    expect(timeRangeOf({ from: MIDNIGHT, to: MIDNIGHT + 2 * DAY_MS }).step).to.equal('hour')
    expect(timeRangeOf({ from: MIDNIGHT, to: MIDNIGHT + 2 * DAY_MS + 1 }).step).to.equal('day')
    expect(timeRangeOf({ from: MIDNIGHT, to: MIDNIGHT + HOUR_MS, step: 'day' }).step).to.equal('day')
  })

  it('has a whole first and last step', () => {
    expect(stepsOf({ from: MIDNIGHT + 1, to: MIDNIGHT + HOUR_MS + 1, step: 'hour' })).to.deep.equal([
      MIDNIGHT,
      MIDNIGHT + HOUR_MS,
    ])
    expect(stepsOf({ from: MIDNIGHT, to: MIDNIGHT + HOUR_MS, step: 'hour' })).to.deep.equal([MIDNIGHT])
  })

  it('may be seven days of hours, beginning within an hour', () => {
    const from = MIDNIGHT + 1234
    expect(stepsOf({ from, to: from + 7 * DAY_MS, step: 'hour' })).to.have.length(7 * 24 + 1)
  })

  for (const [name, range] of INVALID) {
    it(`is refused if it ${name}`, () => expect(() => stepsOf(range)).to.throw(GatewayError, /'to'/))
  }
})
