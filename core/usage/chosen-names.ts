import type { Kysely } from 'kysely'
import type { CallsTable, Schema } from '../store/schema.ts'
import { ALL_ACCOUNTS, chosenNames } from './rollup.ts'
import { stepStart } from './time-range.ts'

/** The names of a dimension, such as the values of a tag, that have totals of their own in one day: of each account, and of all together. */
export const MAX_NAMES = { account: 500, all: 2000 } as const

/** The name under which further ones count. */
export const OTHER_NAMES = 'other'

/** Days whose names are kept in memory. Calls are written in about the order of their times. */
const MAX_DAYS = 3

/**
 * Bounds the names that clients choose, by dimension and day: a client may send another tag or model with each call, and each would add
 * rows of its own to the totals. An account that sends many spends its own names, not those of others. The rows of calls keep the names
 * themselves.
 */
export class ChosenNames {
  /** By day, then by dimension and scope. */
  readonly #days = new Map<number, Map<string, Set<string>>>()

  /** Reads the names of the days, dimensions and accounts of these calls that have totals already, from earlier or from another gateway. */
  async prepare(db: Kysely<Schema>, calls: readonly CallsTable[]): Promise<void> {
    const prepared = new Set<string>()
    for (const call of calls) {
      const day = stepStart(call.at, 'day')
      // Most calls of a batch have the account and the tags of others.
      const text = `${day}\0${call.account_id}\0${call.tags}`
      if (prepared.has(text)) continue
      prepared.add(text)
      const names = this.#namesOf(day)
      for (const { dimension } of chosenNames(call)) {
        for (const scope of [ALL_ACCOUNTS, call.account_id ?? ALL_ACCOUNTS]) {
          const key = keyOf(dimension, scope)
          if (!names.has(key)) names.set(key, await readNames(db, { day, dimension, scope }))
        }
      }
    }
  }

  /** The name under which one counts in a scope: that of the call's account, or of all. Of calls that `prepare` was called for. */
  nameIn(scope: string, { at, account_id }: CallsTable, dimension: string, name: string): string {
    // Of calls without such a name.
    if (name === '') return name
    const names = this.#namesOf(stepStart(at, 'day'))
    const account = account_id ?? ALL_ACCOUNTS
    const isKept =
      (account === ALL_ACCOUNTS || takes(names.get(keyOf(dimension, account)), name, MAX_NAMES.account)) &&
      (scope !== ALL_ACCOUNTS || takes(names.get(keyOf(dimension, ALL_ACCOUNTS)), name, MAX_NAMES.all))
    return isKept ? name : OTHER_NAMES
  }

  #namesOf(day: number): Map<string, Set<string>> {
    let names = this.#days.get(day)
    if (names === undefined) {
      names = new Map()
      this.#days.set(day, names)
      if (this.#days.size > MAX_DAYS) this.#days.delete(Math.min(...this.#days.keys()))
    }
    return names
  }
}

const keyOf = (dimension: string, scope: string): string => `${dimension}\0${scope}`

/** Adds a name unless there are `max` others. Whether it is one of them. */
function takes(names: Set<string> | undefined, name: string, max: number): boolean {
  if (names === undefined || names.has(name)) return true
  if (names.size >= max) return false
  names.add(name)
  return true
}

interface NameRange {
  readonly day: number
  readonly dimension: string
  readonly scope: string
}

async function readNames(db: Kysely<Schema>, { day, dimension, scope }: NameRange): Promise<Set<string>> {
  const rows = await db
    .selectFrom('usage')
    .select('name')
    .where('span', '=', 'day')
    .where('at', '=', day)
    .where('dimension', '=', dimension)
    .where('scope', '=', scope)
    .limit(MAX_NAMES.all)
    .execute()
  return new Set(rows.map(({ name }) => name))
}
