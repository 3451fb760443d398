import type { Compilable, Kysely } from 'kysely'
import type { Schema } from './schema.ts'

/** An open database with migrated tables: what SQLite and PostgreSQL implement differently. No query blocks the event loop. */
export interface Backend {
  /** For queries that an index answers, and for all writes. A `select` outside of a transaction waits for no write. */
  readonly db: Kysely<Schema>
  /**
   * For a query that may scan many rows: `store.read(store.db.selectFrom('audit')…)`. It delays no query of `db`. It sees what was
   * committed before it. Throws what the database throws, or at its deadline of 30 s.
   */
  read<Row>(query: Compilable<Row>): Promise<readonly Row[]>
  /**
   * Whether anyone, this process included, may have changed what keys and accounts may do since the last call of `changed`. Cheap.
   * Throws while that cannot be known.
   */
  changed(): Promise<boolean>
  /**
   * Until when `changed` has learned of every change, by `performance.now()`; at first -Infinity. It stands still while that cannot be known,
   * as behind a pooler that drops the notifications of PostgreSQL: what was read must then be read again from time to time.
   */
  seenUntil(): number
  /** Resolves when the statements in progress have ended. */
  close(): Promise<void>
}
