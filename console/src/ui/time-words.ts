const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

const UNITS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['year', 365 * DAY],
  ['month', 30 * DAY],
  ['day', DAY],
  ['hour', HOUR],
  ['minute', MINUTE],
]

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' })
const absolute = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'long', hourCycle: 'h23' })
const hour = new Intl.DateTimeFormat('en', { timeStyle: 'short', hourCycle: 'h23' })

/** "2 min. ago", "in 3 days", "just now". */
export function timeAgo(at: string, now: number): string {
  const distance = Date.parse(at) - now
  const [unit, length] = UNITS.find(([, size]) => Math.abs(distance) >= size) ?? []
  if (unit === undefined || length === undefined) return distance > SECOND ? 'in a moment' : 'just now'
  return relative.format(Math.round(distance / length), unit)
}

/** "Nov 20, 2026, 13:25:04 GMT+1", in the reader's own time zone. */
export const absoluteTime = (at: string): string => absolute.format(new Date(at))

/** "13:25" */
export const hourTime = (at: string): string => hour.format(new Date(at))

/** "40 µs", "0.4 ms", "840 ms", "3.2 s", "2.1 min" */
export function duration(ms: number): string {
  const microseconds = Math.round(ms * 1000)
  if (microseconds > 0 && microseconds < 100) return `${microseconds} µs`
  if (ms < 1000) return `${ms < 10 ? Math.round(ms * 10) / 10 : Math.round(ms)} ms`
  return ms < 60_000 ? `${(ms / 1000).toFixed(1)} s` : `${(ms / 60_000).toFixed(1)} min`
}
