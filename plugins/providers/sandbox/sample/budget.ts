import { Unsampleable } from './unsampleable.ts'

/** What may be looked at for one call, in UTF-16 units of the JSON of schemas: some tens of milliseconds of the event loop. */
const MOST = 512 * 1024
/** What a value costs, so that there are at most 1024. */
const VALUE = 512
/** What each unit of the answer costs, so that there are at most 32 Ki. */
const WRITTEN = 16

/** Nothing is left for trying other alternatives either. */
export class Exhausted extends Unsampleable {}

/** What making up the values of one call may cost. Its methods throw `Exhausted`. */
export class Budget {
  #left = MOST

  /** A value is made up, or one could not be. */
  value(): void {
    this.#spend(VALUE)
  }

  /** A schema is read or copied. */
  read(schema: unknown): void {
    this.#spend(lengthOf(schema))
  }

  /** A value that holds no other, or the name of a property, is part of the answer. */
  write(value: unknown): void {
    this.#spend(WRITTEN * lengthOf(value))
  }

  #spend(units: number): void {
    this.#left -= units
    if (this.#left < 0) throw new Exhausted('it asks for too many or too long values, or has no end')
  }
}

const lengthOf = (value: unknown): number => JSON.stringify(value).length
