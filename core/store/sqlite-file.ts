import { closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** Result codes of SQLite (https://www.sqlite.org/rescode.html). */
const BUSY = 5
const CORRUPT = 11
const NOT_A_DATABASE = 26

/**
 * Opens a SQLite file, or `:memory:`, ready for use; makes a missing file, and its folder, for the owner alone. Throws the errors
 * of node:fs and node:sqlite.
 */
export function openSqliteFile(file: string): DatabaseSync {
  if (file !== ':memory:') createPrivately(file)
  // Waiting for another process's lock blocks the event loop, so not for long.
  const database = new DatabaseSync(file, { timeout: 1000, enableForeignKeyConstraints: true })
  try {
    checkIntegrity(database)
    database.exec('PRAGMA journal_mode = WAL')
    // In WAL mode NORMAL cannot damage the file, and loses nothing when the process is killed; a power cut may take back the last
    // commits. FULL would wait for the disk at each commit, and that on the event loop.
    database.exec('PRAGMA synchronous = NORMAL')
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

/** What kind of trouble an error of `openSqliteFile` is, or of a query. */
export function sqliteTrouble(error: unknown): 'busy' | 'damaged' | 'other' {
  // The low byte is the primary code, the rest says more about it.
  const code = error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : 0
  if (code === BUSY) return 'busy'
  return code === CORRUPT || code === NOT_A_DATABASE ? 'damaged' : 'other'
}

/**
 * Returns a function that tells whether another connection has changed keys or accounts since it was last called. Cheap where nobody
 * has committed anything; others that only write down calls do so all the time.
 */
export function watchKeyChanges(database: DatabaseSync): () => boolean {
  const version = database.prepare('PRAGMA data_version')
  // The triggers of migration 0003 count.
  const changes = database.prepare('select count from key_changes')
  const look = () => ({ version: version.get()?.data_version, changes: changes.get()?.count })
  let seen = look()
  return () => {
    if (version.get()?.data_version === seen.version) return false
    const before = seen
    seen = look()
    return seen.changes !== before.changes
  }
}

function createPrivately(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  try {
    // Only a new file: opening and closing one that is in use would drop this process's locks on it (POSIX).
    closeSync(openSync(file, 'wx', 0o600))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

/** Calls are left out: a start would wait seconds for a million of them, and nothing hangs on them. */
function checkIntegrity(database: DatabaseSync): void {
  const tables = database.prepare("select name from sqlite_schema where type = 'table' and name not in ('calls', 'usage')").all()
  for (const { name } of tables) {
    const finding = database.prepare(`PRAGMA quick_check("${String(name).replaceAll('"', '""')}")`).get()?.quick_check
    if (finding !== 'ok') throw Object.assign(new Error(String(finding)), { errcode: CORRUPT })
  }
}
