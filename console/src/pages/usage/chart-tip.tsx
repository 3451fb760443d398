import { Paper, Text } from '@mantine/core'
import styles from './chart-tip.module.css'
import type { ChartData } from './stacked-options.ts'

const FORMATS = {
  hour: { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
  day: { weekday: 'short', month: 'short', day: 'numeric' },
} as const

/** The position of the tooltip, and its bar. */
export interface ChartTipProps extends ChartData {
  readonly left: number
  /** Of the whole chart: in its right half the tooltip is left of the pointer. */
  readonly width: number
  readonly time: string
  readonly index: number
}

/** The tooltip of a bar: the value of each group. */
export function ChartTip({ left, width, time, step, timeZone, format, index, groups }: ChartTipProps) {
  const place = left > width / 2 ? { right: width - left + 12 } : { left: left + 12 }
  return (
    <Paper className={styles.tip} style={place} withBorder shadow="sm" p="xs" aria-hidden="true">
      <Text size="xs" fw={600} mb={4}>
        {new Intl.DateTimeFormat('en', { ...FORMATS[step], timeZone }).format(new Date(time))}
      </Text>
      {groups.map(({ label, color, values }) => (
        <div key={label} className={styles.row}>
          <span className={styles.swatch} style={{ background: color }} />
          <span className={styles.name}>{label}</span>
          <span>{format.exactly(values[index] ?? 0)}</span>
        </div>
      ))}
    </Paper>
  )
}
