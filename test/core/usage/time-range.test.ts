import { expect } from 'chai'
import { GatewayError } from '../../../core/errors.ts'
import { countedSteps, stepsOf, type TimeRange, timeRangeOf } from '../../../core/usage/time-range.ts'

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

  /** The days of a zone, as UTC, each with its number of hours. */
  function daysOf(range: Omit<TimeRange, 'step'>): readonly string[] {
    const { step, starts, startOf } = countedSteps({ ...range, step: 'day' })
    expect(step).to.equal('hour')
    const hours = (start: number): number => [...startOf.values()].filter((at) => at === start).length
    return starts.map((start) => `${new Date(start).toISOString().slice(0, 16)} ${hours(start)}`)
  }

  for (const { what, timeZone, from, to, days } of [
    {
      what: 'begins at midnight there, whole days at both ends',
      timeZone: 'America/Los_Angeles',
      from: '2026-05-16T10:00Z',
      to: '2026-05-17T07:01Z',
      days: ['2026-05-16T07:00 24', '2026-05-17T07:00 24'],
    },
    {
      what: 'has 23 hours where the clock is put forward',
      timeZone: 'Europe/Berlin',
      from: '2026-03-28T23:00Z',
      to: '2026-03-30T12:00Z',
      days: ['2026-03-28T23:00 23', '2026-03-29T22:00 24'],
    },
    {
      what: 'begins with the first hour of UTC that begins in it',
      timeZone: 'Asia/Kolkata',
      from: '2026-05-17T18:30Z',
      to: '2026-05-18T18:30Z',
      days: ['2026-05-16T19:00 24', '2026-05-17T19:00 24'],
    },
  ])
    it(`in days of ${timeZone}: a day ${what}`, () => {
      expect(daysOf({ timeZone, from: Date.parse(from), to: Date.parse(to) })).to.deep.equal(days)
    })

  for (const [name, range] of [
    ['has too many days of a zone', { from: MIDNIGHT, to: MIDNIGHT + 33 * DAY_MS, timeZone: 'Europe/Berlin' }],
    ['has days of a zone and ends when it begins', { from: MIDNIGHT, to: MIDNIGHT, timeZone: 'Europe/Berlin' }],
  ] as const)
    it(`is refused if it ${name}`, () => {
      expect(() => countedSteps({ ...range, step: 'day' })).to.throw(GatewayError, /'to'/)
    })
})
