import { existsSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { connectToSqliteFile } from './sqlite-file.ts'
import { StoreError, sqliteError } from './unavailable.ts'

/** What a backup has in addition to the tables: a row of the table `backup`. */
export interface BackupNote {
  /** Milliseconds since 1970. */
  readonly made_at: number
  /** The version of the gateway. */
  readonly made_by: string
  /** Lines of the journal of calls. */
  readonly journal: string
}

/** What to copy, and where to. */
export interface Copying {
  readonly from: string
  readonly to: string
  /** Whether `to` may exist. */
  readonly overwrite: boolean
}

/**
 * Copies a database to a file that only its owner can read, while gateways use it: as it was at one moment, without the space of removed
 * rows. The file is there as a whole or not at all. Throws `StoreError`, and the errors of node:fs.
 */
export async function backUpSqlite({ from, to, overwrite }: Copying, note: BackupNote): Promise<void> {
  if (!existsSync(from)) throw new StoreError(`There is no database ${from}. Name its folder with --data.`)
  if (existsSync(to) && !overwrite) throw new StoreError(`${to} exists. Choose another name, or replace it with --overwrite.`)
  const unfinished = `${to}.unfinished`
  await rm(unfinished, { force: true })
  try {
    // Before SQLite writes to it: SQLite would create it for other users to read too.
    await (await open(unfinished, 'wx', 0o600)).close()
    // Not `backup` of node:sqlite: it copies pages step by step, and begins again after each write of a gateway.
    withDatabase(connectToSqliteFile(from, 'write'), (database) => database.prepare('vacuum into ?').run(unfinished))
    withDatabase(new DatabaseSync(unfinished), (database) => addNote(database, note))
    await moveSynced(unfinished, to)
  } catch (error) {
    await rm(unfinished, { force: true })
    throw error
  }
}

function addNote(database: DatabaseSync, { made_at, made_by, journal }: BackupNote): void {
  // A database that was restored by copying a backup has the table already.
  database.exec('drop table if exists backup')
  database.exec('create table backup (made_at integer not null, made_by text not null, journal text not null)')
  database.prepare('insert into backup values (?, ?, ?)').run(made_at, made_by, journal)
}

/** Runs something on a database, and closes it. Throws `StoreError` if the file cannot be used. */
export function withDatabase<Result>(database: DatabaseSync, run: (database: DatabaseSync) => Result): Result {
  try {
    return run(database)
  } catch (error) {
    throw (error as { readonly errcode?: unknown }).errcode === undefined ? error : sqliteError(error)
  } finally {
    database.close()
  }
}

/** Moves a file to another name in its folder. A power cut after this undoes nothing of it. */
export async function moveSynced(from: string, to: string): Promise<void> {
  await sync(from)
  await rename(from, to)
  // Windows has no handles of folders.
  if (process.platform !== 'win32') await sync(dirname(to))
}

async function sync(path: string): Promise<void> {
  await using file = await open(path)
  await file.sync()
}
