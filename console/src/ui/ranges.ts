const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Relative time ranges, by their name in the URL. */
const RANGES = {
  '1h': { label: 'Last hour', ms: HOUR },
  '24h': { label: 'Last 24 hours', ms: DAY },
  '7d': { label: 'Last 7 days', ms: 7 * DAY },
  '30d': { label: 'Last 30 days', ms: 30 * DAY },
  '90d': { label: 'Last 90 days', ms: 90 * DAY },
} as const

/** The name of the range between two chosen days. */
export const CUSTOM = 'custom'

/** Longer ranges have steps of a day, shorter ones of an hour. */
const LONGEST_BY_HOUR = 3 * DAY

/** The options of a field. */
export function rangeChoices(...names: readonly (keyof typeof RANGES)[]): readonly { value: string; label: string }[] {
  return [...names.map((value) => ({ value, label: RANGES[value].label })), { value: CUSTOM, label: 'Custom range' }]
}

/** A time range, RFC 3339. `to` is exclusive; absent: now. */
export interface Span {
  readonly from: string
  readonly to?: string
}

/** The time range in the URL. Days are `YYYY-MM-DD`. */
export interface Time {
  readonly range: string
  readonly from: string
  readonly to: string
}

/**
 * The span of a time range in the URL. Relative ranges begin at a whole minute, so that queries within a minute share a cache entry;
 * days are in the reader's time zone, the last one included.
 */
export function spanOf({ range, from, to }: Time, now: number): Span {
  if (range === CUSTOM && from !== '' && to !== '') {
    const end = new Date(`${to}T00:00:00`)
    end.setDate(end.getDate() + 1)
    return { from: new Date(`${from}T00:00:00`).toISOString(), to: end.toISOString() }
  }
  const { ms } = RANGES[range as keyof typeof RANGES] ?? RANGES['7d']
  return { from: new Date(floorMinute(now - ms)).toISOString() }
}

/** The span of a chart, whose first and last bar are whole hours or days. */
export interface BarSpan extends Span {
  /** Where the days of a chart begin; absent: they are days of UTC. */
  readonly timeZone?: string
}

/**
 * The span of a chart: "Last 7 days" are today and the six days before, in the reader's time zone. Days before `kept` milliseconds are
 * those of UTC, since no hours are kept from which others could be added up.
 */
export function barSpanOf(time: Time, now: number, kept: number): BarSpan {
  const span = spanOf(time, now)
  if (stepOf(span, now) === 'hour') return { ...span, from: new Date(startOfHours(span, now)).toISOString() }
  const from = startOfDays(span, now)
  if (from.getTime() >= now - kept) return { ...span, from: from.toISOString(), timeZone: readersTimeZone() }
  if (span.to !== undefined) return { from: `${time.from}T00:00:00.000Z`, to: endOfDay(time.to) }
  return { from: new Date(Math.floor(now / DAY) * DAY + DAY - (floorMinute(now) - Date.parse(span.from))).toISOString() }
}

/** The reader's time zone, such as `Europe/Berlin`. */
export const readersTimeZone = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone

/** With the hour of now, as many hours as the span is long. */
function startOfHours({ from, to }: Span, now: number): number {
  const first = Date.parse(from)
  const start = to === undefined ? Math.floor(now / HOUR) * HOUR + HOUR - (floorMinute(now) - first) : first
  return Math.floor(start / HOUR) * HOUR
}

/** With today, as many days of the reader as the span is long. */
function startOfDays({ from, to }: Span, now: number): Date {
  if (to !== undefined) return new Date(from)
  const days = Math.round((floorMinute(now) - Date.parse(from)) / DAY)
  const start = new Date(now)
  start.setHours(0, 0, 0, 0)
  start.setDate(start.getDate() + 1 - days)
  return start
}

const floorMinute = (time: number): number => Math.floor(time / MINUTE) * MINUTE

const endOfDay = (day: string): string => new Date(Date.parse(`${day}T00:00:00Z`) + DAY).toISOString()

/** The step of a chart of a span. */
export function stepOf({ from, to }: Span, now: number): 'hour' | 'day' {
  const end = to === undefined ? now : Date.parse(to)
  return end - Date.parse(from) <= LONGEST_BY_HOUR ? 'hour' : 'day'
}
