/** Runs in a worker thread: queries of one SQLite file over a connection that can only read, or transactions over one that writes. */
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'

/** A compiled query of one file. */
export interface ReadTask {
  readonly file: string
  readonly sql: string
  readonly parameters: readonly unknown[]
}

/** A statement, and the parameters of each of its runs. */
export interface Statement {
  readonly sql: string
  readonly rows: readonly (readonly unknown[])[]
}

/** The statements of one transaction on one file. */
export interface WriteTask {
  readonly file: string
  readonly statements: readonly Statement[]
}

/** A lock that another process holds is waited for: only this thread waits. */
const BUSY_TIMEOUT_MS = 1000

/** The texts of queries differ only by which filters are set. */
const MAX_STATEMENTS = 100
const prepared = new Map<string, StatementSync>()

let reading: DatabaseSync | undefined
let writing: DatabaseSync | undefined

/** Runs a query. Its rows are cloned into the calling thread. */
export function read({ file, sql, parameters }: ReadTask): unknown[] {
  reading ??= new DatabaseSync(file, { readOnly: true, timeout: BUSY_TIMEOUT_MS })
  return prepare(reading, sql).all(...(parameters as SQLInputValue[]))
}

/** Runs statements in one transaction. Returns how many rows each has changed. Throws what the database throws. */
export function write({ file, statements }: WriteTask): number[] {
  writing ??= openForWriting(file)
  try {
    writing.exec('begin immediate')
    const changes: number[] = []
    for (const statement of statements) changes.push(run(writing, statement))
    writing.exec('commit')
    return changes
  } catch (error) {
    // On a full disk SQLite has rolled back by itself.
    if (writing.isTransaction) writing.exec('rollback')
    throw error
  }
}

function openForWriting(file: string): DatabaseSync {
  const database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS, enableForeignKeyConstraints: true })
  // As in `openSqliteFile`: nothing is lost when the process is killed.
  database.exec('PRAGMA synchronous = NORMAL')
  // 16 MB: consecutive batches touch the same pages.
  database.exec('PRAGMA cache_size = -16000')
  return database
}

function run(database: DatabaseSync, { sql, rows }: Statement): number {
  const statement = prepare(database, sql)
  return rows.reduce((sum, parameters) => sum + Number(statement.run(...(parameters as SQLInputValue[])).changes), 0)
}

/** A thread only reads or only writes, so one cache serves its one connection. */
function prepare(database: DatabaseSync, sql: string): StatementSync {
  const statement = prepared.get(sql) ?? database.prepare(sql)
  if (prepared.size < MAX_STATEMENTS) prepared.set(sql, statement)
  return statement
}
