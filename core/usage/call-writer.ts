import type { Compilable, Kysely } from 'kysely'
import type { Store } from '../store/database.ts'
import type { CallsTable, Schema, UsageTable } from '../store/schema.ts'
import { createSqliteWriter } from '../store/sqlite-threads.ts'
import type { Statement } from '../store/sqlite-worker.ts'
import { firstRequestId } from '../text/ids.ts'
import { rollUp, TOTALS } from './rollup.ts'

/** Writes calls and their sums down, and removes them again. Throws what the database throws. */
export interface CallWriter {
  /** All or nothing. */
  write(calls: readonly CallsTable[]): Promise<void>
  /** Removes a slice of what is older than its horizon. Resolves to whether there was any. */
  remove(horizon: Horizon): Promise<boolean>
  close(): Promise<void>
}

/** The writer of a store. It never holds up the event loop for long: SQLite's file is written in a thread. */
export function createCallWriter(store: Store): CallWriter {
  return store.file === undefined ? databaseWriter(store.db) : threadWriter(store.file, store.db)
}

/** Rows of one statement: a database takes only so many parameters at once. */
const MOST_ROWS = 500

function databaseWriter(db: Kysely<Schema>): CallWriter {
  return {
    async write(calls) {
      await db.transaction().execute(async (transaction) => {
        const ids = new Set<string>()
        for (const some of slices(calls))
          for (const { id } of await insertCalls(transaction, some).returning('id').execute()) ids.add(id)
        // A commit whose answer was lost is tried again: what it had written counts once.
        const sums = rollUp(calls.filter(({ id }) => ids.has(id)))
        for (const some of slices(sums)) await addUsage(transaction, some).execute()
      })
    },
    async remove(horizon) {
      let removed = 0n
      for (const removal of removals(db, horizon)) removed += (await removal.executeTakeFirstOrThrow()).numDeletedRows
      return removed > 0n
    },
    close: async () => {},
  }
}

function* slices<Row>(rows: readonly Row[]): Generator<readonly Row[]> {
  for (let from = 0; from < rows.length; from += MOST_ROWS) yield rows.slice(from, from + MOST_ROWS)
}

/** `db`: only makes the queries. */
function threadWriter(file: string, db: Kysely<Schema>): CallWriter {
  const writer = createSqliteWriter(file)
  return {
    async write(calls) {
      await writer.run([
        ...onePerRow(calls, (one) => insertCalls(db, one)),
        ...onePerRow(rollUp(calls), (one) => addUsage(db, one)),
      ])
    },
    async remove(horizon) {
      const statements = removals(db, horizon).map((removal) => removal.compile())
      const removed = await writer.run(statements.map(({ sql, parameters }) => ({ sql, rows: [parameters] })))
      return removed.some((count) => count > 0)
    },
    close: () => writer.close(),
  }
}

/** An insert of one row runs once for each: prepared once, that costs half of what one large statement does. */
function onePerRow<Row extends object>(rows: readonly Row[], insert: (rows: readonly Row[]) => Compilable): Statement[] {
  if (rows.length === 0) return []
  return [{ sql: insert(rows.slice(0, 1)).compile().sql, rows: rows.map((row) => Object.values(row)) }]
}

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
          Object.fromEntries(TOTALS.map((measure) => [measure, eb(`usage.${measure}`, '+', ref(`excluded.${measure}`))])),
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
