import type { SoakFixture } from './fixture.ts'

/** A test of limits that only show after some time or many calls. */
export interface Scenario {
  readonly name: string
  /** Its timeout. */
  readonly seconds: number
  /** The text of its own routes.yaml. Default: routes.yaml of this folder. */
  readonly table?: string
  /** V8's limit of its gateway's heap, in MB. Default: V8's own. */
  readonly heapMb?: number
  /** Its gateway's limit of open files. Default: that of the command. */
  readonly descriptors?: number
  /** Runs with its own gateway. `progress` prints the current step. */
  run(fixture: SoakFixture, progress: (message: string) => void): Promise<readonly Finding[]>
}

/** One measured value and its limit. */
export interface Finding {
  readonly what: string
  readonly measured: string
  readonly allowed: string
  readonly met: boolean
}

/** A value of at most `limit`. NaN exceeds it. */
export function atMost(limit: number, unit: string, what: string, measured: number): Finding {
  return { what, measured: `${rounded(measured)} ${unit}`, allowed: `at most ${limit} ${unit}`, met: measured <= limit }
}

/** A value of at least `limit`. NaN does not reach it. */
export function atLeast(limit: number, unit: string, what: string, measured: number): Finding {
  return { what, measured: `${rounded(measured)} ${unit}`, allowed: `at least ${limit} ${unit}`, met: measured >= limit }
}

/** A value that must equal `expected`. */
export function exactly(expected: number, what: string, measured: number): Finding {
  return { what, measured: rounded(measured), allowed: rounded(expected), met: measured === expected }
}

/** A change of at most `limit` in either direction. */
export function within(limit: number, what: string, change: number): Finding {
  const sign = change > 0 ? '+' : ''
  return { what, measured: `${sign}${rounded(change)}`, allowed: `±${limit}`, met: Math.abs(change) <= limit }
}

/** Two significant digits below 10, no fraction above. */
const rounded = (value: number): string =>
  (Math.abs(value) < 10 ? Number(value.toPrecision(2)) : Math.round(value)).toLocaleString('en')
