import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import type { QueryResult } from 'kysely'
import { BoundedMap } from '../async/bounded-map.ts'
import type { Connection, Statement } from './connection-pool.ts'
import { sqliteError } from './unavailable.ts'

/** Ends a transaction. */
export const ROLLBACK = 'rollback'

/** The most prepared statements: the texts of queries differ only by which filters are set, and by their number of rows. */
const MAX_PREPARED = 50

interface Prepared {
  readonly statement: StatementSync
  readonly returnsRows: boolean
}

/** Runs statements in this thread. */
export class StatementRunner {
  readonly #database: DatabaseSync
  readonly #prepared = new BoundedMap<string, Prepared>(MAX_PREPARED)

  constructor(database: DatabaseSync) {
    this.#database = database
  }

  /** Throws the errors of node:sqlite. */
  run({ sql, parameters }: Statement): QueryResult<unknown> {
    // On a full disk SQLite has rolled back by itself.
    if (sql === ROLLBACK && !this.#database.isTransaction) return { rows: [] }
    const { statement, returnsRows } = this.#prepared.get(sql) ?? this.#prepare(sql)
    const values = parameters as SQLInputValue[]
    if (returnsRows) return { rows: statement.all(...values) }
    return { rows: [], numAffectedRows: BigInt(statement.run(...values).changes) }
  }

  #prepare(sql: string): Prepared {
    const statement = this.#database.prepare(sql)
    const prepared = { statement, returnsRows: statement.columns().length > 0 }
    this.#prepared.set(sql, prepared)
    return prepared
  }
}

/** A connection in this thread, which waits for each statement. */
export class LocalConnection implements Connection {
  readonly #database: DatabaseSync
  readonly #statements: StatementRunner

  constructor(database: DatabaseSync) {
    this.#database = database
    this.#statements = new StatementRunner(database)
  }

  async run(statement: Statement): Promise<QueryResult<unknown>> {
    try {
      return this.#statements.run(statement)
    } catch (error) {
      throw sqliteError(error)
    }
  }

  get ended(): boolean {
    return !this.#database.isOpen
  }

  async close(): Promise<void> {
    if (this.#database.isOpen) this.#database.close()
  }
}
