import { expect } from 'chai'
import { barSpanOf, CUSTOM, spanOf, stepOf } from '../../console/src/ui/ranges.ts'
import { countedSteps } from '../../core/usage/time-range.ts'

const NOW = Date.parse('2026-11-20T15:04:05.678Z')
const NO_DAYS = { from: '', to: '' }
const NOVEMBER = { range: CUSTOM, from: '2026-11-01', to: '2026-11-07' }
const HOUR = 3_600_000
const DAY = 24 * HOUR
const MONTH = 30 * DAY

/** Runs a check as if this computer was in a time zone. */
function inZone(zone: string, check: () => void): void {
  const before = process.env.TZ
  process.env.TZ = zone
  try {
    check()
  } finally {
    if (before === undefined) delete process.env.TZ
    else process.env.TZ = before
  }
}

describe('a time range of the console', () => {
  it('that is relative has no end', () => {
    expect(spanOf({ range: '24h', ...NO_DAYS }, NOW)).to.deep.equal({ from: '2026-11-19T15:04:00.000Z' })
  })

  it('is the same query within a minute', () => {
    const time = { range: '30d', ...NO_DAYS }
    expect(spanOf(time, NOW)).to.deep.equal(spanOf(time, NOW + 50_000))
  })

  it('includes the last day, in the local time zone', () => {
    const { from, to } = spanOf({ range: CUSTOM, from: '2026-11-01', to: '2026-11-03' }, NOW)
    expect(new Date(from).toLocaleString('sv')).to.equal('2026-11-01 00:00:00')
    expect(new Date(to!).toLocaleString('sv')).to.equal('2026-11-04 00:00:00')
  })

  it('is a week if the URL has an unknown one', () => {
    expect(spanOf({ range: 'fortnight', ...NO_DAYS }, NOW).from).to.equal('2026-11-13T15:04:00.000Z')
  })

  // C7
  for (const { zone, range, from, bars } of [
    { zone: 'UTC', range: '24h', from: '2026-11-19T16:00:00.000Z', bars: 24 },
    { zone: 'UTC', range: '7d', from: '2026-11-14T00:00:00.000Z', bars: 7 },
    // There it is the 21st already.
    { zone: 'Asia/Tokyo', range: '7d', from: '2026-11-14T15:00:00.000Z', bars: 7 },
    { zone: 'America/New_York', range: '7d', from: '2026-11-14T05:00:00.000Z', bars: 7 },
    // Over the end of daylight saving time.
    { zone: 'America/New_York', range: '30d', from: '2026-10-22T04:00:00.000Z', bars: 30 },
  ])
    it(`of ${range} is a chart of ${bars} bars in ${zone}`, () => {
      inZone(zone, () => {
        const { timeZone, ...span } = barSpanOf({ range, ...NO_DAYS }, NOW, MONTH)
        expect(span).to.deep.equal({ from })
        if (timeZone === undefined) expect(Math.ceil((NOW - Date.parse(span.from)) / HOUR)).to.equal(bars)
        else expect(countedSteps({ from: Date.parse(from), to: NOW, step: 'day', timeZone }).starts).to.have.length(bars)
      })
    })

  // C7
  it('between two days is a chart of these days of the reader', () => {
    inZone('America/New_York', () =>
      expect(barSpanOf(NOVEMBER, NOW, MONTH)).to.deep.equal({
        from: '2026-11-01T04:00:00.000Z',
        to: '2026-11-08T05:00:00.000Z',
        timeZone: 'America/New_York',
      }),
    )
  })

  it('of which no hours are kept is a chart of days of UTC', () => {
    inZone('America/New_York', () => {
      expect(barSpanOf(NOVEMBER, NOW, 10 * DAY)).to.deep.equal({
        from: '2026-11-01T00:00:00.000Z',
        to: '2026-11-08T00:00:00.000Z',
      })
      expect(barSpanOf({ range: '90d', ...NO_DAYS }, NOW, MONTH)).to.deep.equal({ from: '2026-08-23T00:00:00.000Z' })
    })
  })

  it('has steps of an hour up to three days', () => {
    expect(stepOf({ from: '2026-11-19T15:04:00Z' }, NOW)).to.equal('hour')
    expect(stepOf({ from: '2026-11-13T15:04:00Z' }, NOW)).to.equal('day')
    expect(stepOf({ from: '2026-10-01T00:00:00Z', to: '2026-10-02T00:00:00Z' }, NOW)).to.equal('hour')
  })
})
