import { PostgresAdapter, sql, type Transaction } from 'kysely'
import type { Store } from './database.ts'
import type { Schema } from './schema.ts'

/** Any number, as long as nothing else locks it. */
const LOCK = 7_406_221_195

/**
 * Runs a transaction while no other one that was begun so runs, in whatever process: for decisions that look at more rows than they
 * write, such as whether this is the last admin. On SQLite every transaction that writes is alone.
 */
export function exclusively<Result>({ db }: Store, run: (transaction: Transaction<Schema>) => Promise<Result>): Promise<Result> {
  return db.transaction().execute(async (transaction) => {
    if (db.getExecutor().adapter instanceof PostgresAdapter)
      await sql`select pg_advisory_xact_lock(${sql.lit(LOCK)})`.execute(transaction)
    return run(transaction)
  })
}
