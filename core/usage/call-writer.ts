import { type Compilable, CompiledQuery, type Kysely, sql } from 'kysely'
import type { Store } from '../store/database.ts'
import type { CallsTable, Schema, UsageTable } from '../store/schema.ts'
import { firstRequestId } from '../text/ids.ts'
import { MAX_NANO_USD } from '../text/money.ts'
import { ChosenNames } from './chosen-names.ts'
import { rollUp, TOTALS } from './rollup.ts'

/** Writes and removes calls and their totals. Throws what the database throws. */
export interface CallWriter {
  /** In one transaction. Resolves to the number of calls that had no row. */
  write(calls: readonly CallsTable[]): Promise<number>
  /** Removes up to 500 expired rows of each kind. Resolves to whether there were any. */
  remove(horizon: Horizon): Promise<boolean>
}

/** Creates the writer of a store. */
export function createCallWriter({ db }: Pick<Store, 'db'>): CallWriter {
  const calls = inserterOf<CallsTable, { readonly id: string }>((rows) => insertCalls(db, rows).returning('id'))
  const usage = inserterOf<UsageTable, never>((rows) => addUsage(db, rows))
  const chosen = new ChosenNames()
  return {
    async write(all) {
      return db.transaction().execute(async (transaction) => {
        const ids = new Set((await calls(transaction, all)).map(({ id }) => id))
        const added = all.filter(({ id }) => ids.has(id))
        await chosen.prepare(transaction, added)
        // A commit whose reply was lost is retried: rows that it has written do not count again.
        await usage(
          transaction,
          rollUp(added, (...name) => chosen.nameIn(...name)),
        )
        return added.length
      })
    },
    async remove(horizon) {
      let removed = 0n
      for (const removal of removals(db, horizon)) removed += (await removal.executeTakeFirstOrThrow()).numDeletedRows
      return removed > 0n
    },
  }
}

/** Rows of one statement: a database limits its parameters. */
const MAX_ROWS = 100

/**
 * Inserts rows by the statements that `insert` makes; resolves to what these return. The statement for a number of rows is made once:
 * that takes Kysely as long as all else that this thread does for the rows.
 */
function inserterOf<Row extends object, Returned>(insert: (rows: readonly Row[]) => Compilable) {
  const texts = new Map<number, string>()
  return async (db: Kysely<Schema>, rows: readonly Row[]): Promise<Returned[]> => {
    const returned: Returned[] = []
    for (let from = 0; from < rows.length; from += MAX_ROWS) {
      const some = rows.slice(from, from + MAX_ROWS)
      const text = texts.get(some.length) ?? insert(some).compile().sql
      texts.set(some.length, text)
      const result = await db.executeQuery<Returned>(CompiledQuery.raw(text, valuesOf(some)))
      returned.push(...result.rows)
    }
    return returned
  }
}

/** The values of rows with the same columns, one row after the other: a list that is made as long as it will be is not copied as it grows. */
function valuesOf(rows: readonly object[]): unknown[] {
  const columns = Object.keys(rows[0]!)
  const values = new Array<unknown>(rows.length * columns.length)
  let at = 0
  for (const row of rows) for (const column of columns) values[at++] = row[column as keyof typeof row]
  return values
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

/** As text of the statement: its parameters are the rows. */
const MAX_SUM = sql.lit(MAX_NANO_USD)

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
      conflict.columns(USAGE_KEY).doUpdateSet(({ eb, ref }) => ({
        ...Object.fromEntries(TOTALS.map((column) => [column, eb(`usage.${column}`, '+', ref(`excluded.${column}`))])),
        // A sum that JavaScript's numbers cannot hold could not be read.
        cost: boundedSum('cost'),
        saved: boundedSum('saved'),
      })),
    )
}

function boundedSum(column: 'cost' | 'saved') {
  const sum = sql`${sql.ref(`usage.${column}`)} + ${sql.ref(`excluded.${column}`)}`
  return sql<number>`case when ${sum} > ${MAX_SUM} then ${MAX_SUM} else ${sum} end`
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
