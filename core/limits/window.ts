import type { RateWindow } from '../sdk/api.ts'

/** A length of time in which a limit holds. */
export type Window = RateWindow

/** A short text that is the same for the same window: a part of the id of a counter. */
export function windowName(window: Window): string {
  return window.kind === 'fixed' ? String(window.ms) : `${window.unit}@${window.timeZone}`
}

/** When a window that contains `now` ends, if its first use is now. Milliseconds since 1970. */
export function windowEnd(window: Window, now: number): number {
  if (window.kind === 'fixed') return now + window.ms
  return boundsOf(window, now).end
}

/** When the calendar window that contains `now` began and ends, in milliseconds since 1970. */
export function boundsOf(
  { unit, timeZone }: Window & { readonly kind: 'calendar' },
  now: number,
): { readonly start: number; readonly end: number } {
  const { year, month, day } = dateIn(timeZone, now)
  const at = (y: number, m: number, d: number) => startOfDay(timeZone, y, m, d)
  if (unit === 'month') return { start: at(year, month, 1), end: at(year, month + 1, 1) }
  if (unit === 'day') return { start: at(year, month, day), end: at(year, month, day + 1) }
  const monday = day - ((new Date(Date.UTC(year, month - 1, day)).getUTCDay() + 6) % 7)
  return { start: at(year, month, monday), end: at(year, month, monday + 7) }
}

interface LocalDate {
  readonly year: number
  /** 1 to 12. */
  readonly month: number
  readonly day: number
}

const formats = new Map<string, Intl.DateTimeFormat>()

/** Creating a format takes longer than using it a thousand times. Throws a RangeError if the time zone is unknown. */
function formatFor(timeZone: string): Intl.DateTimeFormat {
  let format = formats.get(timeZone)
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone,
      calendar: 'gregory',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
    formats.set(timeZone, format)
  }
  return format
}

function fieldsIn(timeZone: string, at: number): Readonly<Record<string, number>> {
  const parts = formatFor(timeZone).formatToParts(at)
  return Object.fromEntries(parts.map(({ type, value }) => [type, Number(value)]))
}

function dateIn(timeZone: string, at: number): LocalDate {
  const { year, month, day } = fieldsIn(timeZone, at)
  return { year: year!, month: month!, day: day! }
}

/** What clocks in the time zone show at `at`, minus UTC, in milliseconds. */
function offsetAt(timeZone: string, at: number): number {
  const { year, month, day, hour, minute, second } = fieldsIn(timeZone, at)
  return Date.UTC(year!, month! - 1, day!, hour!, minute!, second!) - Math.floor(at / 1000) * 1000
}

/** The first moment of a day; where clocks jump over midnight, the moment of the jump. `month` and `day` may be beyond their range. */
function startOfDay(timeZone: string, year: number, month: number, day: number): number {
  const local = Date.UTC(year, month - 1, day)
  // The offset before and after a change of the clocks differ: of the two candidates, the one that is on that day and the earlier.
  const candidates = [local - offsetAt(timeZone, local - DAY_MS), local - offsetAt(timeZone, local + DAY_MS)]
  const { year: y, month: m, day: d } = dateIn('UTC', local)
  const fitting = candidates.filter((at) => {
    const date = dateIn(timeZone, at)
    return date.year === y && date.month === m && date.day === d
  })
  return Math.min(...(fitting.length > 0 ? fitting : candidates))
}

const DAY_MS = 86_400_000
