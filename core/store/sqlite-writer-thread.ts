/** Runs in a worker thread: writes to one SQLite file, over a connection of its own. */
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'

/** A statement, and the parameters of each time it runs. */
export interface Statement {
  readonly sql: string
  readonly rows: readonly (readonly unknown[])[]
}

/** What the thread is sent. */
export type WriterTask = { readonly statements: readonly Statement[] } | 'close'

/** What it answers to statements. */
export type WriterAnswer = { readonly changes: readonly number[] } | { readonly error: unknown }

/** Another writer may hold the file: here nobody but who writes waits for it. */
const database = new DatabaseSync(workerData as string, { timeout: 1000, enableForeignKeyConstraints: true })
// As in `openSqliteFile`: nothing is lost when the process is killed.
database.exec('PRAGMA synchronous = NORMAL')
// 16 MB: the pages that many writes in a row touch again.
database.exec('PRAGMA cache_size = -16000')
const prepared = new Map<string, StatementSync>()

parentPort!.on('message', (task: WriterTask) => {
  if (task !== 'close') return parentPort!.postMessage(answer(task.statements))
  database.close()
  parentPort!.close()
})

function answer(statements: readonly Statement[]): WriterAnswer {
  try {
    database.exec('begin immediate')
    const changes = statements.map(run)
    database.exec('commit')
    return { changes }
  } catch (error) {
    // Where the disk is full, SQLite has rolled back by itself.
    if (database.isTransaction) database.exec('rollback')
    return { error }
  }
}

function run({ sql, rows }: Statement): number {
  const statement = prepared.get(sql) ?? database.prepare(sql)
  prepared.set(sql, statement)
  return rows.reduce((sum, parameters) => sum + Number(statement.run(...(parameters as SQLInputValue[])).changes), 0)
}
