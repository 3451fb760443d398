import type { Compilable, Kysely } from 'kysely'
import type { Schema } from './schema.ts'

/** An open database with migrated tables: what SQLite and PostgreSQL implement differently. */
export interface Backend {
  /** For queries that an index answers, and for all writes: on SQLite it runs in this thread and blocks the event loop. */
  readonly db: Kysely<Schema>
  /**
   * For a query that may scan many rows: `store.read(store.db.selectFrom('audit')…)`. It never blocks the event loop: SQLite runs it
   * in a worker thread. It sees what was committed before it. Throws what the database throws, or at its deadline of 30 s.
   */
  read<Row>(query: Compilable<Row>): Promise<readonly Row[]>
  /**
   * Whether another connection, of this process or another, may have changed what keys and accounts may do since the last call of
   * `changed`. Cheap. Throws while that cannot be known.
   */
  changed(): boolean
  /** Path of SQLite's file, for a writer with a thread of its own; undefined in memory and on PostgreSQL. */
  readonly file?: string | undefined
  close(): Promise<void>
}
