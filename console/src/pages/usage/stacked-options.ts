import uPlot from 'uplot'
import type { MetricFormat } from './metrics.ts'

/** Groups of values over time, and how to show their times and amounts. */
export interface ChartData {
  readonly step: 'hour' | 'day'
  /** The time zone of days. */
  readonly timeZone: string
  readonly format: MetricFormat
  readonly groups: readonly { readonly label: string; readonly color: string; readonly values: readonly number[] }[]
}

/** The settings of the chart. */
export interface ChartSetting extends Omit<ChartData, 'groups'> {
  readonly width: number
  readonly height: number
  /** Of each group, the lowest in the stack first. */
  readonly colors: readonly string[]
  readonly dark: boolean
  /** Called with the bar under the pointer, and its pixels from the left. */
  readonly onPoint: (at: { readonly index: number; readonly left: number } | undefined) => void
}

const LABELS = {
  hour: { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
  day: { month: 'short', day: 'numeric' },
} as const

const FONT = '12px Inter, -apple-system, "Segoe UI", Roboto, Arial, sans-serif'
const STEP_SECONDS = { hour: 3600, day: 86_400 }

/** The part of its step that a bar fills, and its maximum width in pixels. */
const BAR: [number, number] = [0.7, 36]

/** uPlot draws later series over earlier ones: the highest sums come first, so that each series shows its own part. */
export function stacked(values: readonly (readonly number[])[]): number[][] {
  const sums: number[][] = []
  for (const row of values) {
    const below = sums.at(-1)
    sums.push(row.map((value, index) => value + (below?.[index] ?? 0)))
  }
  return sums.reverse()
}

/** Pixels: of the axis with the amounts, and of what a label may take at the right of the last bar. */
const AXIS_WIDTH = 56
const HALF_LABEL = 20

/** The least pixels from one label to the next. */
const LABEL_WIDTH = 70

/**
 * Which bars have a label: each one, or one of several where there is no room. uPlot's own ticks are every so many hours, which are not where
 * days begin after a change of the clock.
 */
export function ticksOf(times: ArrayLike<number>, width: number): number[] {
  const step = Math.max(1, Math.ceil((times.length * LABEL_WIDTH) / width))
  return Array.from(times).filter((_, index) => index % step === 0)
}

/** The options of uPlot. */
export function chartOptions({ width, height, step, timeZone, format, colors, dark, onPoint }: ChartSetting): uPlot.Options {
  const bars = uPlot.paths.bars!({ size: BAR, radius: 0 })
  const axis = {
    font: FONT,
    stroke: dark ? '#98a0ad' : '#5b6370',
    grid: { stroke: dark ? '#2b3038' : '#eceef2', width: 1 },
    ticks: { show: false },
  }
  const label = new Intl.DateTimeFormat('en', { ...LABELS[step], timeZone })
  const half = STEP_SECONDS[step] / 2
  return {
    width,
    height,
    padding: [8, HALF_LABEL, 0, 0],
    legend: { show: false },
    cursor: { points: { show: false }, y: false, drag: { x: false, y: false } },
    scales: {
      // Leaves room for half a bar at both ends.
      x: { range: (_, min, max) => [min - half, max + half] },
      y: { range: (_, __, max) => [0, Math.max(max * 1.05, format.floor)] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 30,
        splits: ({ data: [times] }) => ticksOf(times, width - AXIS_WIDTH - HALF_LABEL),
        values: (_, splits) => splits.map((split) => label.format(split * 1000)),
      },
      { ...axis, size: AXIS_WIDTH, values: (_, splits) => splits.map((split) => format.atAxis(split)) },
    ],
    series: [{}, ...colors.toReversed().map((fill) => ({ fill, width: 0, paths: bars, points: { show: false } }))],
    hooks: {
      setCursor: [
        ({ cursor: { idx, left } }) =>
          onPoint(idx == null || left === undefined || left < 0 ? undefined : { index: idx, left: left + AXIS_WIDTH }),
      ],
    },
  }
}
