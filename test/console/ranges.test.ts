import { expect } from 'chai'
import { barSpanOf, CUSTOM, spanOf, stepOf } from '../../console/src/ui/ranges.ts'

const NOW = Date.parse('2026-11-20T15:04:05.678Z')
const NO_DAYS = { from: '', to: '' }

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
  for (const { range, from, bars, step } of [
    { range: '24h', from: '2026-11-19T16:00:00.000Z', bars: 24, step: 3_600_000 },
    { range: '7d', from: '2026-11-14T00:00:00.000Z', bars: 7, step: 86_400_000 },
    { range: '30d', from: '2026-10-22T00:00:00.000Z', bars: 30, step: 86_400_000 },
  ])
    it(`of ${range} is a chart of ${bars} bars`, () => {
      const span = barSpanOf({ range, ...NO_DAYS }, NOW)
      expect(span).to.deep.equal({ from })
      expect(Math.ceil((NOW - Date.parse(span.from)) / step)).to.equal(bars)
    })

  // C7
  it('between two days is a chart of these days, which are counted in UTC', () => {
    const days = { range: CUSTOM, from: '2026-11-01', to: '2026-11-07' }
    expect(barSpanOf(days, NOW)).to.deep.equal({ from: '2026-11-01T00:00:00.000Z', to: '2026-11-08T00:00:00.000Z' })
  })

  it('has steps of an hour up to three days', () => {
    expect(stepOf({ from: '2026-11-19T15:04:00Z' }, NOW)).to.equal('hour')
    expect(stepOf({ from: '2026-11-13T15:04:00Z' }, NOW)).to.equal('day')
    expect(stepOf({ from: '2026-10-01T00:00:00Z', to: '2026-10-02T00:00:00Z' }, NOW)).to.equal('hour')
  })
})
