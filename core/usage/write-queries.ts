import type { Kysely } from 'kysely'
import type { CallsTable, Schema, UsageTable } from '../store/schema.ts'
import { MEASURES } from './measures.ts'
import { firstRequestId } from './request-id.ts'

/** Rows removed at once: others wait no longer than that takes. */
const SLICE = 500

const USAGE_KEY = ['span', 'at', 'dimension', 'scope', 'name'] as const

/** Since when what is kept: milliseconds since 1970. */
export interface Horizon {
  /** Calls, and their sums by hour. */
  readonly calls: number
  /** Sums by day. */
  readonly days: number
}

/** Writes calls down; those that are there already stay as they are. */
export function insertCalls(db: Kysely<Schema>, calls: readonly CallsTable[]) {
  return db
    .insertInto('calls')
    .values(calls)
    .onConflict((conflict) => conflict.column('id').doNothing())
}

/** Adds to the sums of hours and days. */
export function addUsage(db: Kysely<Schema>, rows: readonly UsageTable[]) {
  return db
    .insertInto('usage')
    .values(rows)
    .onConflict((conflict) =>
      conflict
        .columns(USAGE_KEY)
        .doUpdateSet(({ eb, ref }) =>
          Object.fromEntries(MEASURES.map((measure) => [measure, eb(`usage.${measure}`, '+', ref(`excluded.${measure}`))])),
        ),
    )
}

/** Each removes a slice of what is older than it need be. */
export function removals(db: Kysely<Schema>, horizon: Horizon) {
  const oldUsage = (span: UsageTable['span'], before: number) =>
    db.deleteFrom('usage').where(({ eb, refTuple, selectFrom }) =>
      eb(
        refTuple(...USAGE_KEY),
        'in',
        selectFrom('usage')
          .select(USAGE_KEY)
          .where('span', '=', span)
          .where('at', '<', before)
          .orderBy('at')
          .limit(SLICE)
          .$asTuple(...USAGE_KEY),
      ),
    )
  const oldCalls = db
    .deleteFrom('calls')
    .where('id', 'in', ({ selectFrom }) =>
      selectFrom('calls').select('id').where('id', '<', firstRequestId(horizon.calls)).orderBy('id').limit(SLICE),
    )
  return [oldCalls, oldUsage('hour', horizon.calls), oldUsage('day', horizon.days)]
}
