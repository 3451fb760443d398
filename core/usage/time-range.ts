import { GatewayError } from '../errors.ts'

const STEP_MS = { hour: 3_600_000, day: 86_400_000 }

/** The longest range of each step: a chart shows no more. */
const MAX_DAYS = { hour: 7, day: 400 }

const DEFAULT_MS = 7 * STEP_MS.day
/** The longest range with hours as its default step. */
const MAX_HOURLY_MS = 2 * STEP_MS.day

/** The step of a report: hours or days. */
export type Step = keyof typeof STEP_MS

/** A time range in steps of UTC. Milliseconds since 1970. */
export interface TimeRange {
  readonly from: number
  /** Exclusive. */
  readonly to: number
  readonly step: Step
}

/** Completes a time range; by default it is the last seven days. */
export function timeRangeOf({ from, to, step }: { readonly [Key in keyof TimeRange]?: TimeRange[Key] | undefined }): TimeRange {
  const end = to ?? Date.now()
  const start = from ?? end - DEFAULT_MS
  return { from: start, to: end, step: step ?? (end - start <= MAX_HOURLY_MS ? 'hour' : 'day') }
}

/** The start of each step of a time range; the first and the last step are whole. Throws `invalid_value`. */
export function stepsOf({ from, to, step }: TimeRange): readonly number[] {
  const length = STEP_MS[step]
  const first = stepStart(from, step)
  const count = Math.ceil((to - first) / length)
  if (count < 1) throw invalidEnd('it must be later than `from`')
  // One more, because the first and the last step may be partly outside.
  if (count > (MAX_DAYS[step] * STEP_MS.day) / length + 1)
    throw invalidEnd(`in steps of one ${step} it may be at most ${MAX_DAYS[step]} days after \`from\``)
  return Array.from({ length: count }, (_, index) => first + index * length)
}

/** The start of the hour or day of a time. */
export const stepStart = (time: number, step: Step): number => time - (time % STEP_MS[step])

const invalidEnd = (detail: string): GatewayError => new GatewayError('invalid_value', { param: 'to', values: { detail } })
