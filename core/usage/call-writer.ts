import type { Compilable, Kysely } from 'kysely'
import type { Store } from '../store/database.ts'
import type { CallsTable, Schema, UsageTable } from '../store/schema.ts'
import { createSqliteWriter } from '../store/sqlite-threads.ts'
import type { Statement } from '../store/sqlite-worker.ts'
import { firstRequestId } from '../text/ids.ts'
import { rollUp, TOTALS } from './rollup.ts'

/** Writes and removes calls and their totals. Throws what the database throws. */
export interface CallWriter {
  /** In one transaction. */
  write(calls: readonly CallsTable[]): Promise<void>
  /** Removes up to 500 expired rows of each kind. Resolves to whether there were any. */
  remove(horizon: Horizon): Promise<boolean>
  close(): Promise<void>
}

/** Creates the writer of a store. It does not block the event loop: a thread writes SQLite's file. */
export function createCallWriter(store: Store): CallWriter {
  return store.file === undefined ? databaseWriter(store.db) : threadWriter(store.file, store.db)
}

/** Rows of one statement: a database limits its parameters. */
const MAX_ROWS = 500

function databaseWriter(db: Kysely<Schema>): CallWriter {
  return {
    async write(calls) {
      await db.transaction().execute(async (transaction) => {
        const ids = new Set<string>()
        for (const some of slices(calls))
          for (const { id } of await insertCalls(transaction, some).returning('id').execute()) ids.add(id)
        // A commit whose reply was lost is retried: rows that it has written do not count again.
        const totals = rollUp(calls.filter(({ id }) => ids.has(id)))
        for (const some of slices(totals)) await addUsage(transaction, some).execute()
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
  for (let from = 0; from < rows.length; from += MAX_ROWS) yield rows.slice(from, from + MAX_ROWS)
}

/** `db` only builds the queries. */
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

/** A prepared insert of one row that runs once for each row: half the cost of one large statement. */
function onePerRow<Row extends object>(rows: readonly Row[], insert: (rows: readonly Row[]) => Compilable): Statement[] {
  if (rows.length === 0) return []
  return [{ sql: insert(rows.slice(0, 1)).compile().sql, rows: rows.map((row) => Object.values(row)) }]
}

/** Rows of one delete: other writers wait for it. */
const MAX_REMOVED = 500

const USAGE_KEY = ['span', 'at', 'dimension', 'scope', 'name'] as const

/** The oldest time that is kept, in milliseconds since 1970. */
interface Horizon {
  /** Of calls, and of totals by the hour. */
  readonly calls: number
  /** Of totals by the day. */
  readonly days: number
}

/** Inserts calls, except those that have a row. */
export function insertCalls(db: Kysely<Schema>, calls: readonly CallsTable[]) {
  return db
    .insertInto('calls')
    .values(calls)
    .onConflict((conflict) => conflict.column('id').doNothing())
}

/** Adds to the totals of hours and days. */
export function addUsage(db: Kysely<Schema>, rows: readonly UsageTable[]) {
  return db
    .insertInto('usage')
    .values(rows)
    .onConflict((conflict) =>
      conflict
        .columns(USAGE_KEY)
        .doUpdateSet(({ eb, ref }) =>
          Object.fromEntries(TOTALS.map((column) => [column, eb(`usage.${column}`, '+', ref(`excluded.${column}`))])),
        ),
    )
}

/** The deletes of expired rows, each of up to 500. */
function removals(db: Kysely<Schema>, horizon: Horizon) {
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
          .limit(MAX_REMOVED)
          .$asTuple(...USAGE_KEY),
      ),
    )
  const oldCalls = db
    .deleteFrom('calls')
    .where('id', 'in', ({ selectFrom }) =>
      selectFrom('calls').select('id').where('id', '<', firstRequestId(horizon.calls)).orderBy('id').limit(MAX_REMOVED),
    )
  return [oldCalls, oldUsage('hour', horizon.calls), oldUsage('day', horizon.days)]
}
