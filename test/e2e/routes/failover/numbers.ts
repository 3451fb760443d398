import { AUTHENTICATION, type Failure, OVERLOADED, QUOTA, RATE_LIMITED } from '../../upstream-faults/failures.ts'

/** After these a target rests for a while, and the next call would ask the other one first. */
const TIRING: ReadonlySet<Failure> = new Set([AUTHENTICATION, OVERLOADED, QUOTA, RATE_LIMITED])

/** Whether a row makes its first target rest. */
export const isTiring = ({ failure }: { readonly failure: Failure }): boolean => TIRING.has(failure)

/** Which curated model the rows of a table call: those that tire their first target have one of their own. */
export interface Numbers {
  /** How many models that takes. */
  readonly models: number
  of(row: { readonly failure: Failure }, stream: boolean): number
}

/** Numbers the curated models for a table of faults. */
export function numbersFor(rows: readonly { readonly failure: Failure }[]): Numbers {
  const tiring = rows.filter(isTiring)
  return {
    models: 1 + 2 * tiring.length,
    of: (row, stream) => (tiring.includes(row) ? 1 + 2 * tiring.indexOf(row) + Number(stream) : 0),
  }
}
