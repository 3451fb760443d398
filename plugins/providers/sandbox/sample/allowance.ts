import { Unsampleable } from './schema.ts'

/** The allowance of one call, in UTF-16 units of schemas' JSON: some tens of milliseconds of the event loop. */
const MOST = 512 * 1024
/** The cost of a value: there are at most 1024. */
const VALUE = 512
/** The cost of each unit of the answer: there are at most 32 Ki. */
const WRITTEN = 16

/** The allowance is exhausted: no other alternative is attempted. */
export class Exhausted extends Unsampleable {}

/** Limits the cost of the values of one call. Its methods throw `Exhausted`. */
export class Allowance {
  #left = MOST

  /** For each generated value, and each failed attempt. */
  value(): void {
    this.#spend(VALUE)
  }

  /** For each schema that is read or copied. */
  read(schema: unknown): void {
    this.#spend(lengthOf(schema))
  }

  /** For each scalar and each property name of the answer. */
  write(value: unknown): void {
    this.#spend(WRITTEN * lengthOf(value))
  }

  #spend(units: number): void {
    this.#left -= units
    if (this.#left < 0) throw new Exhausted('it requires too many or too long values, or is infinite')
  }
}

const lengthOf = (value: unknown): number => JSON.stringify(value).length
