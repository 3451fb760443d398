import { resolve } from 'node:path'
import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import { setTimeout } from 'node:timers/promises'
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  Kysely,
  SqliteAdapter,
  type SqliteDatabase,
  SqliteDriver,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import type { Backend } from './backend.ts'
import { migrate } from './migrate.ts'
import { openSqliteFile, sqliteErrorKind, watchKeyChanges } from './sqlite-file.ts'
import { createSqliteReader } from './sqlite-threads.ts'
import { StoreError } from './unavailable.ts'

/** How long opening waits for a locked database. */
const MAX_WAIT_MS = 3000

/** Opens a SQLite file, or `:memory:`. Throws `StoreError`. */
export async function openSqlite(path: string): Promise<Backend> {
  const file = path === ':memory:' ? path : resolve(path)
  const deadline = performance.now() + MAX_WAIT_MS
  for (;;) {
    try {
      return await open(file)
    } catch (error) {
      if (sqliteErrorKind(error) !== 'busy' || performance.now() > deadline) throw explain(file, error)
      // The change to WAL mode needs an exclusive lock, and SQLite does not wait for it: processes that start together collide.
      await setTimeout(20 + Math.random() * 80)
    }
  }
}

async function open(file: string): Promise<Backend> {
  const sqlite = openSqliteFile(file)
  const db: Backend['db'] = new Kysely({ dialect: sqliteDialect(sqlite) })
  const reader = createSqliteReader(file)
  const close = async () => {
    await reader.close()
    await db.destroy()
    // Kysely closes only a connection that it has used.
    if (sqlite.isOpen) sqlite.close()
  }
  try {
    await migrate(db)
    // No other connection sees a database in memory.
    const read: Backend['read'] = file === ':memory:' ? async (query) => (await db.executeQuery(query)).rows : reader.read
    return { db, read, changed: watchKeyChanges(sqlite), file: file === ':memory:' ? undefined : file, close }
  } catch (error) {
    await close()
    throw error
  }
}

function explain(file: string, error: unknown): StoreError {
  if (error instanceof StoreError) return error
  const reason = error instanceof Error ? error.message : String(error)
  const words = {
    busy: `The database ${file} is locked by another process. Find out which one holds it (lsof ${file}), then start again.`,
    damaged: `The database ${file} is damaged (${reason}) and was not changed. Restore a backup; or move it and ${file}-wal away to start with an empty database, in which no existing key is valid.`,
    other: `The database ${file} cannot be opened: ${reason}. Check the path, its permissions and the free disk space.`,
  }
  return new StoreError(words[sqliteErrorKind(error)], { cause: error })
}

/** Kysely's SQLite dialect over node:sqlite, with transactions that several processes can begin at the same time. */
export function sqliteDialect(database: DatabaseSync): Dialect {
  return {
    createDriver: () => new ImmediateDriver({ database: asKyselyExpects(database) }),
    createAdapter: () => new TransactionalAdapter(),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createIntrospector: (db) => new SqliteIntrospector(db),
  }
}

class ImmediateDriver extends SqliteDriver {
  /** Takes the write lock first, and waits for it; a lock requested after a read fails at once if another process holds it. */
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin immediate'))
  }
}

class TransactionalAdapter extends SqliteAdapter {
  /** Lets the Migrator work in one transaction: of processes that start together one migrates, the others wait and find it done. */
  override get supportsTransactionalDdl(): boolean {
    return true
  }
}

/** Kysely expects better-sqlite3, which takes parameters as an array and knows which statements return rows. */
function asKyselyExpects(database: DatabaseSync): SqliteDatabase {
  return {
    close: () => database.close(),
    prepare(sql) {
      const statement = database.prepare(sql)
      return {
        reader: statement.columns().length > 0,
        all: (parameters) => statement.all(...(parameters as SQLInputValue[])),
        run: (parameters) => statement.run(...(parameters as SQLInputValue[])),
        iterate: (parameters) => statement.iterate(...(parameters as SQLInputValue[])),
      }
    },
  }
}
