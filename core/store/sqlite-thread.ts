/** Runs in a worker thread: queries of one SQLite file, over a connection that can only read. */
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'

/** A compiled query. */
export interface StoredQuery {
  readonly file: string
  readonly sql: string
  readonly parameters: readonly unknown[]
}

let database: DatabaseSync | undefined
const statements = new Map<string, StatementSync>()
/** The texts of queries differ only by which filters are set. */
const MAX_STATEMENTS = 100

/** Runs a query. Its rows are copied to who asked. */
export function read({ file, sql, parameters }: StoredQuery): unknown[] {
  database ??= new DatabaseSync(file, { readOnly: true, timeout: 1000 })
  const statement = statements.get(sql) ?? database.prepare(sql)
  if (statements.size < MAX_STATEMENTS) statements.set(sql, statement)
  return statement.all(...(parameters as SQLInputValue[]))
}
