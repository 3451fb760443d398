import type { Compilable } from 'kysely'
import type { Piscina } from 'piscina'
import type { StoredQuery } from './sqlite-thread.ts'

/** Two, so that a long query holds up one other query, and not all. */
const THREADS = 2
/** An idle gateway gives the threads back. */
const IDLE_MS = 60_000
/** Nobody waits longer for a page of the console. */
const QUERY_MS = 30_000

/** Runs queries in threads of their own, each with a connection that can only read. */
export interface SqliteReader {
  read<Row>(query: Compilable<Row>): Promise<readonly Row[]>
  close(): Promise<void>
}

/** node:sqlite is synchronous: in the gateway's own thread, a query over many rows would hold up every stream. */
export function createSqliteReader(file: string): SqliteReader {
  let starting: Promise<Piscina> | undefined

  async function start(): Promise<Piscina> {
    // Only here: a command that reads nothing large starts sooner without it.
    const { Piscina } = await import('piscina')
    const filename = new URL('./sqlite-thread.ts', import.meta.url).href
    const threads = new Piscina({ filename, minThreads: 0, maxThreads: THREADS, idleTimeout: IDLE_MS, recordTiming: false })
    // A thread that could not start: the queries that wait for it end by their deadline.
    threads.on('error', () => undefined)
    return threads
  }

  return {
    async read<Row>(query: Compilable<Row>) {
      starting ??= start()
      const { sql, parameters } = query.compile()
      const stored: StoredQuery = { file, sql, parameters }
      return (await (await starting).run(stored, { name: 'read', signal: AbortSignal.timeout(QUERY_MS) })) as readonly Row[]
    },
    async close() {
      await (await starting)?.destroy()
    },
  }
}
