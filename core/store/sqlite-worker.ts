/** Runs in a thread: one connection to a SQLite file. Sends the outcome of each statement; `undefined` closes the connection. */
import { getPriority, setPriority } from 'node:os'
import type { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import type { QueryResult } from 'kysely'
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

/** So much lower is the priority of the thread that writes: rows are written when no call is due. */
const LOWER_BY = 7
const LOWEST_PRIORITY = 19

const { file, access } = workerData as ThreadData
const port = parentPort!
let database: DatabaseSync | undefined
let statements: StatementRunner | undefined

// Linux gives each thread a priority of its own (setpriority(2), "C library/kernel differences"); elsewhere it is the process's.
if (process.platform === 'linux' && access === 'write') setPriority(Math.min(getPriority() + LOWER_BY, LOWEST_PRIORITY))

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
