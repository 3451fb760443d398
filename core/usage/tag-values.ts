import type { Kysely } from 'kysely'
import type { CallsTable, Schema } from '../store/schema.ts'
import { ALL_ACCOUNTS, tagsOf } from './rollup.ts'
import { stepStart } from './time-range.ts'

/** The values of a tag that have totals of their own in one day. */
export const MAX_TAG_VALUES = 500

/** The name under which further values count. */
export const OTHER_VALUES = 'other'

/** Days whose values are kept in memory. Calls are written in about the order of their times. */
const MAX_DAYS = 3

/**
 * Bounds the values of each tag and day: a client may send another value with each call, and each would add rows of its own to the
 * totals. The rows of calls keep the values themselves.
 */
export class TagValues {
  /** By day and tag. */
  readonly #values = new Map<number, Map<string, Set<string>>>()

  /** Reads the values of the days and tags of these calls that have totals already, from earlier or from another gateway. */
  async prepare(db: Kysely<Schema>, calls: readonly CallsTable[]): Promise<void> {
    for (const call of calls) {
      const day = stepStart(call.at, 'day')
      for (const [tag] of tagsOf(call)) {
        const tags = this.#tagsOf(day)
        if (!tags.has(tag)) tags.set(tag, await readValues(db, day, tag))
      }
    }
  }

  /** The name under which a value counts. Of days and tags that `prepare` was called for. */
  nameOf(at: number, tag: string, value: string): string {
    const values = this.#tagsOf(stepStart(at, 'day')).get(tag)
    if (values === undefined || values.has(value)) return value
    if (values.size >= MAX_TAG_VALUES) return OTHER_VALUES
    values.add(value)
    return value
  }

  #tagsOf(day: number): Map<string, Set<string>> {
    let tags = this.#values.get(day)
    if (tags === undefined) {
      tags = new Map()
      this.#values.set(day, tags)
      if (this.#values.size > MAX_DAYS) this.#values.delete(Math.min(...this.#values.keys()))
    }
    return tags
  }
}

async function readValues(db: Kysely<Schema>, day: number, tag: string): Promise<Set<string>> {
  const rows = await db
    .selectFrom('usage')
    .select('name')
    .where('span', '=', 'day')
    .where('at', '=', day)
    .where('dimension', '=', `tag:${tag}`)
    .where('scope', '=', ALL_ACCOUNTS)
    .limit(MAX_TAG_VALUES)
    .execute()
  return new Set(rows.map(({ name }) => name))
}
