import { expect } from 'chai'
import fc from 'fast-check'
import { boundsOf, windowEnd, windowName } from '../../../core/limits/window.ts'
import { isTimeZone } from '../../../core/text/times.ts'

type CalendarUnit = 'day' | 'week' | 'month'

const at = (text: string): number => Date.parse(text)
const bounds = (unit: CalendarUnit, timeZone: string, now: string): readonly string[] => {
  const { start, end } = boundsOf({ kind: 'calendar', unit, timeZone }, at(now))
  return [new Date(start).toISOString(), new Date(end).toISOString()]
}

/** [unit, time zone, now, start, end] */
const CASES: readonly (readonly [CalendarUnit, string, string, string, string])[] = [
  ['month', 'UTC', '2026-02-28T23:59:59.999Z', '2026-02-01T00:00:00.000Z', '2026-03-01T00:00:00.000Z'],
  ['month', 'UTC', '2026-12-31T23:59:59.999Z', '2026-12-01T00:00:00.000Z', '2027-01-01T00:00:00.000Z'],
  ['month', 'UTC', '2028-02-29T12:00:00Z', '2028-02-01T00:00:00.000Z', '2028-03-01T00:00:00.000Z'],
  // It is already March in Berlin, and still February in New York.
  ['month', 'Europe/Berlin', '2026-02-28T23:30:00Z', '2026-02-28T23:00:00.000Z', '2026-03-31T22:00:00.000Z'],
  ['month', 'America/New_York', '2026-03-01T04:30:00Z', '2026-02-01T05:00:00.000Z', '2026-03-01T05:00:00.000Z'],
  // Days of 23 and of 25 hours.
  ['day', 'Europe/Berlin', '2026-03-29T12:00:00Z', '2026-03-28T23:00:00.000Z', '2026-03-29T22:00:00.000Z'],
  ['day', 'Europe/Berlin', '2026-10-25T12:00:00Z', '2026-10-24T22:00:00.000Z', '2026-10-25T23:00:00.000Z'],
  // Clocks jump over midnight: the day begins at one o'clock.
  ['day', 'America/Santiago', '2026-09-06T12:00:00Z', '2026-09-06T04:00:00.000Z', '2026-09-07T03:00:00.000Z'],
  // Midnight is twice: the day begins with the first.
  ['day', 'America/Havana', '2026-11-01T12:00:00Z', '2026-11-01T04:00:00.000Z', '2026-11-02T05:00:00.000Z'],
  ['day', 'Asia/Kathmandu', '2026-05-05T18:14:59Z', '2026-05-04T18:15:00.000Z', '2026-05-05T18:15:00.000Z'],
  // Weeks begin on Monday, also that of a Sunday.
  ['week', 'UTC', '2026-11-22T10:00:00Z', '2026-11-16T00:00:00.000Z', '2026-11-23T00:00:00.000Z'],
  ['week', 'UTC', '2026-11-23T00:00:00Z', '2026-11-23T00:00:00.000Z', '2026-11-30T00:00:00.000Z'],
  ['week', 'UTC', '2027-01-01T00:00:00Z', '2026-12-28T00:00:00.000Z', '2027-01-04T00:00:00.000Z'],
]

describe('a window of a limit', () => {
  for (const [unit, timeZone, now, start, end] of CASES)
    it(`of a ${unit} in ${timeZone} at ${now} is ${start} to ${end}`, () => {
      expect(bounds(unit, timeZone, now)).to.deep.equal([start, end])
    })

  it('of the calendar contains its time, and the next one begins where it ends', () => {
    const zones = ['UTC', 'Europe/Berlin', 'America/Santiago', 'America/Havana', 'Pacific/Apia', 'Australia/Lord_Howe']
    const time = fc.integer({ min: at('2020-01-01T00:00:00Z'), max: at('2035-01-01T00:00:00Z') })
    fc.assert(
      fc.property(fc.constantFrom('day', 'week', 'month'), fc.constantFrom(...zones), time, (unit, timeZone, now) => {
        const window = { kind: 'calendar', unit, timeZone } as const
        const { start, end } = boundsOf(window, now)
        expect(now).to.be.within(start, end - 1)
        expect(boundsOf(window, end).start).to.equal(end)
        expect(boundsOf(window, start - 1).end).to.equal(start)
      }),
      { numRuns: 300 },
    )
  })

  it('of a fixed length begins with its first use', () => {
    expect(windowEnd({ kind: 'fixed', ms: 60_000 }, 1_000)).to.equal(61_000)
  })

  it('has a name by its length or its unit and time zone', () => {
    expect(windowName({ kind: 'fixed', ms: 60_000 })).to.equal('60000')
    expect(windowName({ kind: 'calendar', unit: 'month', timeZone: 'Europe/Berlin' })).to.equal('month@Europe/Berlin')
  })

  it('knows time zones by their names', () => {
    expect(['UTC', 'Europe/Berlin', 'Europe/Atlantis', ''].map(isTimeZone)).to.deep.equal([true, true, false, false])
  })
})
