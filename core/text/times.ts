const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }

/** The pattern of a duration. The number of digits is limited, so that it fits a Node timer (2³¹ ms): a longer one would fire at once. */
export const DURATION = '^([1-9]\\d{0,5}ms|[1-9]\\d{0,4}s|[1-9]\\d{0,3}m|[1-9]\\d?h)$'

/** Milliseconds of a text that matches `DURATION`. */
export function milliseconds(duration: string): number {
  const amount = Number.parseInt(duration, 10)
  const unit = duration.slice(String(amount).length) as keyof typeof UNITS
  return amount * UNITS[unit]
}

const SHAPE = /^(\d{4}-\d\d-\d\d)(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d))?$/

/**
 * Milliseconds since the epoch of a date (`2027-01-31`: its first moment, in UTC) or of a date and time with its zone
 * (`2027-01-31T12:00:00Z`). Undefined for anything else, and for days that do not exist.
 */
export function instant(text: string): number | undefined {
  const day = SHAPE.exec(text)?.[1]
  if (day === undefined) return undefined
  const midnight = new Date(day)
  // Date turns the 30th of February into a day of March.
  if (Number.isNaN(midnight.getTime()) || midnight.toISOString().slice(0, 10) !== day) return undefined
  const time = Date.parse(text)
  return Number.isNaN(time) ? undefined : time
}

/** Whether this runtime knows an IANA time zone, such as `Europe/Berlin`. */
export function isTimeZone(name: string): boolean {
  // The data of all time zones take a tenth of a second to load.
  if (name === 'UTC') return true
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: name })
    return true
  } catch {
    return false
  }
}
