import { PostgresAdapter, sql, type Transaction } from 'kysely'
import type { Store } from './database.ts'
import type { Schema } from './schema.ts'

/** The key of the advisory lock: any number that no other program locks. */
const LOCK = 7_406_221_195

/**
 * Runs a transaction while no other exclusive transaction runs, in any process: for decisions that read more rows than they write,
 * such as whether a user is the last admin. On SQLite every transaction is exclusive.
 */
export function exclusively<Result>({ db }: Store, run: (transaction: Transaction<Schema>) => Promise<Result>): Promise<Result> {
  return db.transaction().execute(async (transaction) => {
    if (db.getExecutor().adapter instanceof PostgresAdapter)
      await sql`select pg_advisory_xact_lock(${sql.lit(LOCK)})`.execute(transaction)
    return run(transaction)
  })
}
