import { expect } from 'chai'
import { chartOptions, ticksOf } from '../../console/src/pages/usage/stacked-options.ts'

const QUARTER = 900

/** The first moments, in seconds, of days in a time zone: of `count` days from one on. */
function daysFrom(first: string, count: number, timeZone: string): readonly number[] {
  const day = new Intl.DateTimeFormat('en', { dateStyle: 'short', timeZone })
  const begin = Date.parse(first) / 1000
  const quarters = Array.from({ length: (count + 2) * 96 }, (_, index) => begin + index * QUARTER)
  const isFirst = (time: number): boolean => day.format(time * 1000) !== day.format((time - QUARTER) * 1000)
  return quarters.filter(isFirst).slice(0, count)
}

describe('the dates under the chart of usage', () => {
  for (const timeZone of ['UTC', 'Europe/Berlin', 'America/Los_Angeles', 'Pacific/Auckland', 'Asia/Kolkata'])
    for (const [change, first] of [
      ['the end of summer time', '2026-10-24T12:00:00Z'],
      ['the beginning of summer time', '2026-03-07T12:00:00Z'],
    ] as const)
      it(`are those of the bars over them, each once, in ${timeZone} around ${change}`, () => {
        const times = daysFrom(first, 30, timeZone)
        const day = new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric', timeZone })
        const labels = labelsOf(times, timeZone, 3000)
        expect(labels).to.deep.equal(times.map((time) => day.format(time * 1000)))
        expect(new Set(labels).size).to.equal(30)
      })

  it('are each that of a bar where there is no room for all', () => {
    const times = daysFrom('2026-11-01T12:00:00Z', 90, 'UTC')
    const ticks = ticksOf(times, 1000)
    expect(times).to.include.members([...ticks])
    expect(ticks.length).to.be.within(8, 14)
  })

  function labelsOf(times: readonly number[], timeZone: string, width: number): readonly string[] {
    const [axis] = chartOptions({ ...SETTING, timeZone, width }).axes!
    const { splits, values } = axis! as unknown as {
      splits: () => never
      values: (plot: object, splits: readonly number[]) => string[]
    }
    expect(splits).to.be.a('function')
    return values({}, ticksOf(times, width))
  }
})

const SETTING = {
  height: 280,
  step: 'day',
  format: { floor: 1, atAxis: String } as never,
  colors: [],
  dark: false,
  onPoint: () => undefined,
} as const
