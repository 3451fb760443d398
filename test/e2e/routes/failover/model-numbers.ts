import { AUTHENTICATION, type Failure, OVERLOADED, QUOTA, RATE_LIMITED } from '../../upstream-faults/failures.ts'

/** Failures that start a cooldown, after which the next call would try the other target first. */
const COOLDOWN_FAILURES: ReadonlySet<Failure> = new Set([AUTHENTICATION, OVERLOADED, QUOTA, RATE_LIMITED])

/** Whether a fault starts a cooldown of its target. */
export const startsCooldown = ({ failure }: { readonly failure: Failure }): boolean => COOLDOWN_FAILURES.has(failure)

/** Assigns a curated model to each fault of a list: a fault that starts a cooldown gets its own. */
export interface ModelNumbers {
  /** The number of models needed. */
  readonly models: number
  of(row: { readonly failure: Failure }, stream: boolean): number
}

/** Assigns curated models to a list of faults. */
export function numbersFor(rows: readonly { readonly failure: Failure }[]): ModelNumbers {
  const cooling = rows.filter(startsCooldown)
  return {
    models: 1 + 2 * cooling.length,
    of: (row, stream) => (cooling.includes(row) ? 1 + 2 * cooling.indexOf(row) + Number(stream) : 0),
  }
}
