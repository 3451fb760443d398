import type { Stage } from './stage.ts'

/** One promise that only time and numbers can try. */
export interface Line {
  readonly name: string
  /** How long it may take. */
  readonly seconds: number
  /** The text of a routing table of its own, to edit. Absent: routes.yaml. */
  readonly table?: string
  /** Tries the promise on a gateway of its own. `progress` is told what is being done. */
  run(stage: Stage, progress: (message: string) => void): Promise<readonly Finding[]>
}

/** What was found of one part of a promise. */
export interface Finding {
  readonly what: string
  readonly measured: string
  readonly allowed: string
  readonly met: boolean
}

/** What must not be more than so much. NaN is too much. */
export function atMost(limit: number, unit: string, what: string, measured: number): Finding {
  return { what, measured: `${rounded(measured)} ${unit}`, allowed: `at most ${limit} ${unit}`, met: measured <= limit }
}

/** What must be so much and nothing else. */
export function exactly(expected: number, what: string, measured: number): Finding {
  return { what, measured: rounded(measured), allowed: rounded(expected), met: measured === expected }
}

/** What must be the same as before, or nearly: not more than `limit` away from it. */
export function within(limit: number, what: string, change: number): Finding {
  const sign = change > 0 ? '+' : ''
  return { what, measured: `${sign}${rounded(change)}`, allowed: `±${limit}`, met: Math.abs(change) <= limit }
}

/** Two digits of what is small, and no fraction of what is not. */
const rounded = (value: number): string =>
  (Math.abs(value) < 10 ? Number(value.toPrecision(2)) : Math.round(value)).toLocaleString('en')
