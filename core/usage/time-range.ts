import { GatewayError } from '../errors.ts'

const LENGTHS = { hour: 3_600_000, day: 86_400_000 }

/** More would be no chart. */
const MOST_DAYS = { hour: 7, day: 400 }

const WEEK_MS = 7 * LENGTHS.day
/** Up to so long, hours say more than days. */
const FEW_DAYS_MS = 2 * LENGTHS.day

/** What usage is added up by. */
export type Step = keyof typeof LENGTHS

/** A stretch of time in steps of UTC. Milliseconds since 1970. */
export interface TimeRange {
  readonly from: number
  /** Not part of it. */
  readonly to: number
  readonly step: Step
}

/** The stretch that is meant where not all of it is said: the last seven days. */
export function timeRangeOf({ from, to, step }: { readonly [Part in keyof TimeRange]?: TimeRange[Part] | undefined }): TimeRange {
  const end = to ?? Date.now()
  const begin = from ?? end - WEEK_MS
  return { from: begin, to: end, step: step ?? (end - begin <= FEW_DAYS_MS ? 'hour' : 'day') }
}

/** When each step of a stretch begins; the first and the last are taken whole. Throws `invalid_value`. */
export function timesOf({ from, to, step }: TimeRange): readonly number[] {
  const length = LENGTHS[step]
  const first = from - (from % length)
  const count = Math.ceil((to - first) / length)
  if (count < 1) throw refusal('it must be later than `from`')
  // One more, for the first and the last may be parts.
  if (count > (MOST_DAYS[step] * LENGTHS.day) / length + 1)
    throw refusal(`in steps of one ${step} it may be at most ${MOST_DAYS[step]} days after \`from\``)
  return Array.from({ length: count }, (_, index) => first + index * length)
}

/** When the hour or day of a time begins. */
export const startOf = (time: number, step: Step): number => time - (time % LENGTHS[step])

const refusal = (detail: string): GatewayError => new GatewayError('invalid_value', { param: 'to', values: { detail } })
