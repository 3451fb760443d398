import type { Compilable, Kysely } from 'kysely'
import type { Schema } from './schema.ts'

/** A database that is open, its tables up to date: what SQLite and PostgreSQL do each in its own way. */
export interface Backend {
  /** For what is found by an index, and for all that is written: on SQLite it runs in this thread, and everything else waits. */
  readonly db: Kysely<Schema>
  /**
   * For a query that may have to look at many rows: `store.read(store.db.selectFrom('audit')…)`. It never holds up a stream: SQLite
   * runs it in a worker thread. It sees what was committed before it. Throws what the database throws, or by its deadline of 30 s.
   */
  read<Row>(query: Compilable<Row>): Promise<readonly Row[]>
  /**
   * Whether another connection, of this process or another, may have changed what keys and accounts may do since this was last
   * asked. Cheap; throws where that cannot be known.
   */
  changed(): boolean
  /** Path of SQLite's file, for who writes so much that it wants a thread of its own. */
  readonly file?: string | undefined
  close(): Promise<void>
}
