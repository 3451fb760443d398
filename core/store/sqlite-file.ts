import { closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { sqliteError } from './unavailable.ts'

/** The result code of SQLite for a damaged file (https://www.sqlite.org/rescode.html). */
const CORRUPT = 11

/** Opening is repeated by its caller: each attempt blocks this thread. */
const OPENING_LOCK_MS = 1000
/** The longest wait of a statement for a lock of another process. */
export const LOCK_MS = 3000

/** What a connection does. */
export type Access = 'read' | 'write'

/**
 * Opens a SQLite file, or `:memory:`, in WAL mode; creates a missing file, and its folder, for the owner alone. Throws the errors of
 * node:fs and node:sqlite.
 */
export function openSqliteFile(file: string): DatabaseSync {
  if (file !== ':memory:') createPrivately(file)
  const database = new DatabaseSync(file, { timeout: OPENING_LOCK_MS, enableForeignKeyConstraints: true })
  try {
    checkIntegrity(database)
    database.exec('PRAGMA journal_mode = WAL')
    prepareWrites(database)
    database.exec(`PRAGMA busy_timeout = ${LOCK_MS}`)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

/** Opens another connection to a file that `openSqliteFile` has opened before. Throws the errors of node:sqlite. */
export function connectToSqliteFile(file: string, access: Access): DatabaseSync {
  const url = pathToFileURL(file)
  // A file that was removed is not created again: it would be empty.
  url.searchParams.set('mode', access === 'read' ? 'ro' : 'rw')
  const database = new DatabaseSync(url, { timeout: LOCK_MS, enableForeignKeyConstraints: true })
  if (access === 'write') prepareWrites(database)
  return database
}

function prepareWrites(database: DatabaseSync): void {
  // In WAL mode NORMAL cannot damage the file, and loses nothing when the process is killed; a power cut may undo the last commits.
  // FULL would wait for the disk at each commit.
  database.exec('PRAGMA synchronous = NORMAL')
  // 16 MB: consecutive batches of usage rows touch the same pages.
  database.exec('PRAGMA cache_size = -16000')
}

function createPrivately(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  try {
    // Only a new file: opening and closing a file that is in use would drop this process's locks on it (POSIX).
    closeSync(openSync(file, 'wx', 0o600))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

/** Skips calls and usage: checking a million rows would delay the start by seconds, and no key depends on them. */
function checkIntegrity(database: DatabaseSync): void {
  const tables = database.prepare("select name from sqlite_schema where type = 'table' and name not in ('calls', 'usage')").all()
  for (const { name } of tables) {
    const finding = database.prepare(`PRAGMA quick_check("${String(name).replaceAll('"', '""')}")`).get()?.quick_check
    if (finding !== 'ok') throw sqliteError({ message: String(finding), errcode: CORRUPT })
  }
}
