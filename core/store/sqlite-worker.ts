/** Runs in a thread: one connection to a SQLite file. Sends the outcome of each statement; `undefined` closes the connection. */
import type { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import type { QueryResult } from 'kysely'
import { lowerPriority } from '../async/thread-priority.ts'
import type { Statement } from './connection-pool.ts'
import { StatementRunner } from './sqlite-connection.ts'
import { type Access, connectToSqliteFile } from './sqlite-file.ts'

/** The connection of a thread. */
export interface ThreadData {
  readonly file: string
  readonly access: Access
}

/** The outcome of a statement. An error that is sent to another thread keeps its message only. */
export type Outcome =
  | { readonly result: QueryResult<unknown> }
  | { readonly error: { readonly message: string; readonly errcode: unknown } }

const { file, access } = workerData as ThreadData
const port = parentPort!
let database: DatabaseSync | undefined
let statements: StatementRunner | undefined

// Rows are written when no call is due.
if (access === 'write') lowerPriority()

port.on('message', (statement: Statement | undefined) => {
  if (statement !== undefined) return port.postMessage(outcomeOf(statement))
  database?.close()
  port.close()
})

function outcomeOf(statement: Statement): Outcome {
  try {
    database ??= connectToSqliteFile(file, access)
    statements ??= new StatementRunner(database)
    return { result: statements.run(statement) }
  } catch (error) {
    const { message, errcode } = error as Error & { readonly errcode?: unknown }
    return { error: { message, errcode } }
  }
}
