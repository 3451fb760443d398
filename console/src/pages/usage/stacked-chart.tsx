import { useComputedColorScheme } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { useEffect, useRef, useState } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { ChartTip } from './chart-tip.tsx'
import styles from './stacked-chart.module.css'
import { type ChartData, chartOptions, stacked } from './stacked-options.ts'

/** The data of a stacked bar chart over time. */
export interface StackedChartProps extends ChartData {
  /** The chart's accessible name. */
  readonly label: string
  readonly times: readonly string[]
}

const HEIGHT = 280

/** A stacked bar chart. The table below it has the same numbers, for screen readers. */
export function StackedChart({ label, step, timeZone, times, format, groups }: StackedChartProps) {
  const dark = useComputedColorScheme() === 'dark'
  const { ref: sized, width } = useElementSize<HTMLDivElement>()
  const plotted = useRef<HTMLDivElement>(null)
  const [at, setAt] = useState<{ readonly index: number; readonly left: number }>()

  useEffect(() => {
    const target = plotted.current
    if (target === null || width === 0) return
    const seconds = times.map((time) => Date.parse(time) / 1000)
    const colors = groups.map(({ color }) => color)
    const options = chartOptions({ width, height: HEIGHT, step, timeZone, format, colors, dark, onPoint: setAt })
    const plot = new uPlot(options, [seconds, ...stacked(groups.map(({ values }) => values))], target)
    return () => plot.destroy()
  }, [width, times, format, groups, step, timeZone, dark])

  return (
    <div ref={sized} className={styles.chart} style={{ height: HEIGHT }} role="img" aria-label={label}>
      <div ref={plotted} className={styles.plot} />
      {at !== undefined && times[at.index] !== undefined && (
        <ChartTip
          left={at.left}
          width={width}
          time={times[at.index]!}
          step={step}
          timeZone={timeZone}
          format={format}
          index={at.index}
          groups={groups}
        />
      )}
    </div>
  )
}
