import { expect } from 'chai'
import { GatewayError } from '../../../core/errors.ts'
import { type TimeRange, timeRangeOf, timesOf } from '../../../core/usage/time-range.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const MIDNIGHT = Date.UTC(2026, 4, 17)

const REFUSED: readonly (readonly [name: string, stretch: TimeRange])[] = [
  ['ends before it begins', { from: MIDNIGHT, to: MIDNIGHT - DAY_MS, step: 'day' }],
  ['ends when it begins', { from: MIDNIGHT, to: MIDNIGHT, step: 'day' }],
  ['has more hours than a chart shows', { from: MIDNIGHT, to: MIDNIGHT + 7 * DAY_MS + 2 * HOUR_MS, step: 'hour' }],
  ['has more days', { from: MIDNIGHT, to: MIDNIGHT + 402 * DAY_MS, step: 'day' }],
]

describe('a stretch of time', () => {
  it('is the last seven days where nothing is said', () => {
    const now = Date.now()
    const { from, to, step } = timeRangeOf({})
    expect([to - from, step]).to.deep.equal([7 * DAY_MS, 'day'])
    expect(to).to.be.within(now, Date.now())
  })

  it('is told by the hour where it is short', () => {
    expect(timeRangeOf({ from: MIDNIGHT, to: MIDNIGHT + 2 * DAY_MS }).step).to.equal('hour')
    expect(timeRangeOf({ from: MIDNIGHT, to: MIDNIGHT + 2 * DAY_MS + 1 }).step).to.equal('day')
    expect(timeRangeOf({ from: MIDNIGHT, to: MIDNIGHT + HOUR_MS, step: 'day' }).step).to.equal('day')
  })

  it('has its first and its last step whole', () => {
    expect(timesOf({ from: MIDNIGHT + 1, to: MIDNIGHT + HOUR_MS + 1, step: 'hour' })).to.deep.equal([
      MIDNIGHT,
      MIDNIGHT + HOUR_MS,
    ])
    expect(timesOf({ from: MIDNIGHT, to: MIDNIGHT + HOUR_MS, step: 'hour' })).to.deep.equal([MIDNIGHT])
  })

  it('may be seven days of hours, wherever in an hour it begins', () => {
    const from = MIDNIGHT + 1234
    expect(timesOf({ from, to: from + 7 * DAY_MS, step: 'hour' })).to.have.length(7 * 24 + 1)
  })

  for (const [name, stretch] of REFUSED) {
    it(`is refused when it ${name}`, () => expect(() => timesOf(stretch)).to.throw(GatewayError, /'to'/))
  }
})
