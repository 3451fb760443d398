import type { Compilable } from 'kysely'
import type { Piscina } from 'piscina'
import type { ReadTask, Statement, WriteTask } from './sqlite-worker.ts'

/** Two, so that a long query holds up one other query, and not all. */
const READERS = 2
/** An idle gateway ends its threads. */
const IDLE_MS = 60_000
/** No client waits longer for a page of the console. */
const READ_TIMEOUT_MS = 30_000

/** Runs queries in threads of their own, each with a connection that can only read. */
interface SqliteReader {
  /** Throws what the database throws, or an AbortError after 30 s. */
  read<Row>(query: Compilable<Row>): Promise<readonly Row[]>
  close(): Promise<void>
}

/** Writes to a SQLite file in one thread, so that the event loop never waits for the disk. */
interface SqliteWriter {
  /**
   * Runs statements in one transaction, after those of earlier calls. Resolves to how many rows each has changed. Throws what the
   * database throws.
   */
  run(statements: readonly Statement[]): Promise<readonly number[]>
  /** Resolves when all statements passed to `run` were written or have failed, and the thread has ended. */
  close(): Promise<void>
}

/** node:sqlite is synchronous: on the event loop, a query over many rows would block every stream. */
export function createSqliteReader(file: string): SqliteReader {
  let starting: Promise<Piscina> | undefined

  async function start(): Promise<Piscina> {
    const threads = await createThreads(READERS)
    // A thread that cannot start: the queries that wait for it end by their deadline.
    threads.on('error', () => undefined)
    return threads
  }

  return {
    async read<Row>(query: Compilable<Row>) {
      starting ??= start()
      const { sql, parameters } = query.compile()
      const task: ReadTask = { file, sql, parameters }
      const signal = AbortSignal.timeout(READ_TIMEOUT_MS)
      return (await (await starting).run(task, { name: 'read', signal })) as readonly Row[]
    },
    async close() {
      await (await starting)?.destroy()
    },
  }
}

/** The thread starts with the first statements. A thread that dies fails the statements that it runs; the next ones start another. */
export function createSqliteWriter(file: string): SqliteWriter {
  let starting: Promise<Piscina> | undefined
  /** Settles with the last statements given so far. */
  let last: Promise<unknown> = Promise.resolve()

  async function start(): Promise<Piscina> {
    const thread = await createThreads(1)
    // A thread that cannot start: the statements that wait for it are rejected, not kept.
    thread.on('error', () => void thread.destroy())
    return thread
  }

  async function write(statements: readonly Statement[]): Promise<readonly number[]> {
    starting ??= start()
    const task: WriteTask = { file, statements }
    return (await (await starting).run(task, { name: 'write' })) as readonly number[]
  }

  return {
    run(statements) {
      // One task at a time: Piscina's queue keeps no order, and drops what waits when it is closed.
      const written = last.then(() => write(statements))
      last = written.catch(() => undefined)
      return written
    },
    async close() {
      await last
      await (await starting)?.destroy()
    },
  }
}

/** Imports Piscina here: a command that needs no thread starts sooner without it. */
async function createThreads(maxThreads: number): Promise<Piscina> {
  const { Piscina } = await import('piscina')
  const filename = new URL('./sqlite-worker.ts', import.meta.url).href
  return new Piscina({ filename, minThreads: 0, maxThreads, idleTimeout: IDLE_MS, recordTiming: false })
}
