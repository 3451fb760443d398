import { GatewayError } from '../errors.ts'

const STEP_MS = { hour: 3_600_000, day: 86_400_000 }

/** The longest range of each step: a chart shows no more. */
const MAX_DAYS = { hour: 7, day: 400 }

/** The longest range in days of a time zone, which are sums of hours. */
const MAX_LOCAL_DAYS = 31

const DEFAULT_MS = 7 * STEP_MS.day
/** The longest range with hours as its default step. */
const MAX_HOURLY_MS = 2 * STEP_MS.day

/** The step of a report: hours or days. */
export type Step = keyof typeof STEP_MS

/** A time range in steps of UTC, or in days of a time zone. Milliseconds since 1970. */
export interface TimeRange {
  readonly from: number
  /** Exclusive. */
  readonly to: number
  readonly step: Step
  /** Where days begin at midnight, such as `Europe/Berlin`; absent: UTC. */
  readonly timeZone?: string | undefined
}

/** Completes a time range; by default it is the last seven days. */
export function timeRangeOf({
  from,
  to,
  step,
  timeZone,
}: { readonly [Key in keyof TimeRange]?: TimeRange[Key] | undefined }): TimeRange {
  const end = to ?? Date.now()
  const start = from ?? end - DEFAULT_MS
  return { from: start, to: end, step: step ?? (end - start <= MAX_HOURLY_MS ? 'hour' : 'day'), timeZone }
}

/** The start of each step of UTC of a time range; the first and the last step are whole. Throws `invalid_value`. */
export function stepsOf({ from, to, step }: Omit<TimeRange, 'timeZone'>): readonly number[] {
  const length = STEP_MS[step]
  const first = stepStart(from, step)
  const count = Math.ceil((to - first) / length)
  if (count < 1) throw invalid('to', 'it must be later than `from`')
  // One more, because the first and the last step may be partly outside.
  if (count > (MAX_DAYS[step] * STEP_MS.day) / length + 1) throw tooLong(`in steps of one ${step}`, MAX_DAYS[step])
  return Array.from({ length: count }, (_, index) => first + index * length)
}

/** The start of the hour or day of a time. */
export const stepStart = (time: number, step: Step): number => time - (time % STEP_MS[step])

/** The steps of a report, and the stored sums that each adds up. */
export interface CountedSteps {
  /** The step of the stored sums. */
  readonly step: Step
  /** The start of each step. */
  readonly starts: readonly number[]
  /** Of each stored sum, the start of its step. */
  readonly startOf: ReadonlyMap<number, number>
}

/** The steps of a time range. Days of a time zone add up hours; others are stored as they are. Throws `invalid_value`. */
export function countedSteps(range: TimeRange): CountedSteps {
  const { step, timeZone } = range
  const local = step === 'day' && timeZone !== undefined
  const startOf = local ? localDays(range, timeZone) : new Map(stepsOf(range).map((at) => [at, at]))
  return { step: local ? 'hour' : step, starts: [...new Set(startOf.values())], startOf }
}

/** The hours of whole days of a time zone, each with the first hour of its day: an hour belongs to the day in which it begins. */
function localDays({ from, to }: TimeRange, timeZone: string): ReadonlyMap<number, number> {
  const dayOf = dayFormat(timeZone)
  if (to <= from) throw invalid('to', 'it must be later than `from`')
  // One more, because the first and the last day may be partly outside.
  if (to - from > (MAX_LOCAL_DAYS + 1) * STEP_MS.day) throw tooLong('in days of a time zone', MAX_LOCAL_DAYS)
  let start = stepStart(from, 'hour')
  let day = dayOf.format(start)
  while (dayOf.format(start - STEP_MS.hour) === day) start -= STEP_MS.hour
  const startOf = new Map<number, number>()
  for (let hour = start; ; hour += STEP_MS.hour) {
    const next = dayOf.format(hour)
    if (next !== day) {
      if (hour >= to) return startOf
      day = next
      start = hour
    }
    startOf.set(hour, start)
  }
}

function dayFormat(timeZone: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en-CA', { timeZone })
  } catch {
    throw invalid('time_zone', 'it must be the name of a time zone, such as Europe/Berlin')
  }
}

const tooLong = (what: string, days: number): GatewayError =>
  invalid('to', `${what} it may be at most ${days} days after \`from\``)

const invalid = (param: string, detail: string): GatewayError => new GatewayError('invalid_value', { param, values: { detail } })
