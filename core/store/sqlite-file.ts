import { closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** Result codes of SQLite (https://www.sqlite.org/rescode.html). */
const BUSY = 5
const CORRUPT = 11
const NOT_A_DATABASE = 26

/**
 * Opens a SQLite file, or `:memory:`, in WAL mode; creates a missing file, and its folder, for the owner alone. Throws the errors of
 * node:fs and node:sqlite.
 */
export function openSqliteFile(file: string): DatabaseSync {
  if (file !== ':memory:') createPrivately(file)
  // Waiting for a lock of another process blocks the event loop, so the wait is short.
  const database = new DatabaseSync(file, { timeout: 1000, enableForeignKeyConstraints: true })
  try {
    checkIntegrity(database)
    database.exec('PRAGMA journal_mode = WAL')
    // In WAL mode NORMAL cannot damage the file, and loses nothing when the process is killed; a power cut may undo the last
    // commits. FULL would wait for the disk at each commit, on the event loop.
    database.exec('PRAGMA synchronous = NORMAL')
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

/** Classifies an error of `openSqliteFile`, or of a query. */
export function sqliteErrorKind(error: unknown): 'busy' | 'damaged' | 'other' {
  // The low byte is the primary result code; the others extend it.
  const code = error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : 0
  if (code === BUSY) return 'busy'
  return code === CORRUPT || code === NOT_A_DATABASE ? 'damaged' : 'other'
}

/**
 * Returns a function that returns whether another connection has changed keys or accounts since its last call. It is cheap if no other
 * connection has committed anything. Commits of usage rows are frequent, so they are told apart by a count of changes.
 */
export function watchKeyChanges(database: DatabaseSync): () => boolean {
  const version = database.prepare('PRAGMA data_version')
  // Counted by the triggers of migration 0003.
  const changes = database.prepare('select count from key_changes')
  const readState = () => ({ version: version.get()?.data_version, changes: changes.get()?.count })
  let state = readState()
  return () => {
    if (version.get()?.data_version === state.version) return false
    const before = state
    state = readState()
    return state.changes !== before.changes
  }
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
    if (finding !== 'ok') throw Object.assign(new Error(String(finding)), { errcode: CORRUPT })
  }
}
