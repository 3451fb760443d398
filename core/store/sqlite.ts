import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { type Compilable, Kysely } from 'kysely'
import type { Backend } from './backend.ts'
import { ConnectionPool } from './connection-pool.ts'
import { migrate } from './migrate.ts'
import type { Schema } from './schema.ts'
import { LocalConnection } from './sqlite-connection.ts'
import { type SqlitePools, sqliteDialect } from './sqlite-dialect.ts'
import { type Access, LOCK_MS, openSqliteFile } from './sqlite-file.ts'
import { SqliteThread } from './sqlite-thread.ts'
import { StoreError, sqliteError } from './unavailable.ts'

/** How long opening waits for a locked database. */
const MAX_WAIT_MS = 3000

/** The longest times of statements. A `select` by an index is short: a longer one hangs. */
const SHORT_READ_MS = 5_000
const WRITE_MS = 10_000
/** No client waits longer for a page of the console. */
const LONG_READ_MS = 30_000
/** Two, so that a long query holds up one other query, and not all. */
const LONG_READERS = 2

/** Where the statements of an open database run. */
interface Connections extends SqlitePools {
  /** For queries that may scan many rows. */
  readonly longReads: ConnectionPool
}

/**
 * Opens a SQLite file, or `:memory:`. `threads`: its statements run in threads, one for writes, one for short reads, two for long reads,
 * each from its first statement on; else, and in memory, in this thread. Throws `StoreError`.
 */
export async function openSqlite(path: string, { threads }: { readonly threads: boolean }): Promise<Backend> {
  const file = path === ':memory:' ? path : resolve(path)
  const deadline = performance.now() + MAX_WAIT_MS
  for (;;) {
    try {
      return await open(file, threads && file !== ':memory:')
    } catch (thrown) {
      const error = thrown instanceof Error && 'errcode' in thrown ? sqliteError(thrown) : thrown
      const isBusy = error instanceof StoreError && error.row === 'storage_busy'
      if (!isBusy || performance.now() > deadline) throw explain(file, error)
      // The change to WAL mode needs an exclusive lock, and SQLite does not wait for it: processes that start together collide.
      await setTimeout(20 + Math.random() * 80)
    }
  }
}

async function open(file: string, threads: boolean): Promise<Backend> {
  const connection = new LocalConnection(openSqliteFile(file))
  const here = new ConnectionPool({ size: 1, wait: LOCK_MS, connect: () => connection })
  const db = new Kysely<Schema>({ dialect: sqliteDialect({ reads: here, writes: here }) })
  try {
    // In this thread, which serves nothing yet: threads need time to start.
    await migrate(db)
    const changes = await countKeyChanges(db)
    if (!threads) return backendOf({ reads: here, writes: here, longReads: here }, file, changes)
    await connection.close()
    return backendOf(connectionsInThreads(file), file, changes)
  } catch (error) {
    await connection.close()
    throw error
  }
}

function connectionsInThreads(file: string): Connections {
  const pool = (size: number, wait: number, { limit, access }: { limit: number; access: Access }) =>
    new ConnectionPool({ size, wait, connect: () => new SqliteThread({ file, access, limit }) })
  return {
    reads: pool(1, SHORT_READ_MS, { limit: SHORT_READ_MS, access: 'read' }),
    // A write that waits for a lock lets the next ones wait: these do not wait much longer.
    writes: pool(1, LOCK_MS, { limit: WRITE_MS, access: 'write' }),
    longReads: pool(LONG_READERS, LONG_READ_MS, { limit: LONG_READ_MS, access: 'read' }),
  }
}

/** `changes`: the count of key changes at the opening. */
function backendOf({ reads, writes, longReads }: Connections, file: string, changes: number): Backend {
  const db = new Kysely<Schema>({ dialect: sqliteDialect({ reads, writes }) })
  let known: { readonly count: number; readonly log?: string | undefined } = { count: changes }
  let countedAt = performance.now()
  let seenUntil = Number.NEGATIVE_INFINITY
  return {
    db,
    async read<Row>(query: Compilable<Row>) {
      return (await longReads.run(query.compile())).rows as Row[]
    },
    async changed() {
      const startedAt = performance.now()
      const log = settledLog(file)
      // At rest this is asked again and again: a look at the file wakes up no thread.
      const isSettled = log !== undefined && log === known.log && startedAt - countedAt < MAX_SETTLED_MS
      const count = isSettled ? known.count : await countKeyChanges(db)
      if (!isSettled) countedAt = startedAt
      const isChanged = count !== known.count
      known = { count, log }
      seenUntil = startedAt
      return isChanged
    },
    seenUntil: () => seenUntil,
    async close() {
      await Promise.all([reads.close(), longReads.close()])
      // The last one: a connection that only reads leaves the write-ahead log behind.
      await writes.close()
    },
  }
}

/** The time of a file is that of a tick of the kernel: a write that follows another one may not change it for so long, in milliseconds. */
const SETTLING_MS = 1000
/** Changes are counted at least this often, in milliseconds: there are file systems whose times are coarser than that. */
const MAX_SETTLED_MS = 60_000

/**
 * The state of the write-ahead log, which every change is written to, by whatever process; undefined while it may be written without a change of
 * this, or if there is none.
 */
function settledLog(file: string): string | undefined {
  const log = statSync(`${file}-wal`, { bigint: true, throwIfNoEntry: false })
  if (log === undefined || Date.now() - Number(log.mtimeMs) < SETTLING_MS) return undefined
  return `${log.ino} ${log.size} ${log.mtimeNs}`
}

/** Counted by the triggers of migration 0003. */
async function countKeyChanges(db: Kysely<Schema>): Promise<number> {
  return (await db.selectFrom('key_changes').select('count').executeTakeFirstOrThrow()).count
}

function explain(file: string, error: unknown): StoreError {
  // Not of SQLite: it says what to do.
  if (error instanceof StoreError && error.code === undefined) return error
  const reason = error instanceof Error ? error.message : String(error)
  const words: Readonly<Record<string, string>> = {
    storage_busy: `The database ${file} is locked by another process. Find out which one holds it (lsof ${file}), then start again.`,
    storage_damaged: `The database ${file} is damaged (${reason}) and was not changed. Restore a backup; or move it and ${file}-wal away to start with an empty database, in which no existing key is valid.`,
  }
  const otherwise = `The database ${file} cannot be opened: ${reason}. Check the path, its permissions and the free disk space.`
  return new StoreError((error instanceof StoreError && words[error.row]) || otherwise, { cause: error })
}
