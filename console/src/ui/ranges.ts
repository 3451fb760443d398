const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Times to look back over, by their name in the address. */
const RANGES = {
  '1h': { label: 'Last hour', ms: HOUR },
  '24h': { label: 'Last 24 hours', ms: DAY },
  '7d': { label: 'Last 7 days', ms: 7 * DAY },
  '30d': { label: 'Last 30 days', ms: 30 * DAY },
  '90d': { label: 'Last 90 days', ms: 90 * DAY },
} as const

/** The name of a range; `custom`: two days of the reader's choice. */
export const CUSTOM = 'custom'

/** Above it a day is a step, below an hour. */
const LONGEST_BY_HOUR = 3 * DAY

/** The ranges as a field offers them. */
export function rangeChoices(...names: readonly (keyof typeof RANGES)[]): readonly { value: string; label: string }[] {
  return [...names.map((value) => ({ value, label: RANGES[value].label })), { value: CUSTOM, label: 'Custom range' }]
}

/** A stretch of time, RFC 3339. `to` is not part of it; absent: up to whenever it is asked. */
export interface Span {
  readonly from: string
  readonly to?: string
}

/** What of the address says which time. Days are `YYYY-MM-DD`. */
export interface Time {
  readonly range: string
  readonly from: string
  readonly to: string
}

/**
 * The span that filters of the address mean. Ranges begin at a whole minute, so that asking twice within one is the same question;
 * days are the reader's own, the last one included.
 */
export function spanOf({ range, from, to }: Time, now: number): Span {
  if (range === CUSTOM && from !== '' && to !== '') {
    const end = new Date(`${to}T00:00:00`)
    end.setDate(end.getDate() + 1)
    return { from: new Date(`${from}T00:00:00`).toISOString(), to: end.toISOString() }
  }
  const { ms } = RANGES[range as keyof typeof RANGES] ?? RANGES['7d']
  return { from: new Date(Math.floor((now - ms) / MINUTE) * MINUTE).toISOString() }
}

/** Into which steps a span is cut. */
export function stepOf({ from, to }: Span, now: number): 'hour' | 'day' {
  const end = to === undefined ? now : Date.parse(to)
  return end - Date.parse(from) <= LONGEST_BY_HOUR ? 'hour' : 'day'
}
