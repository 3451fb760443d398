import { constants, existsSync } from 'node:fs'
import { chmod, copyFile, mkdir, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { checkMigrated } from './migrate.ts'
import { type BackupNote, type Copying, moveSynced, withDatabase } from './sqlite-backup.ts'
import { connectToSqliteFile } from './sqlite-file.ts'
import { StoreError } from './unavailable.ts'

/** The files that SQLite keeps beside a database. With another database they would damage it. */
const BESIDE = ['-wal', '-shm', '-journal']

/**
 * Puts a backup, or another copy of a gateway's database, in the place of a database that no program uses. Resolves to the note of the
 * backup; undefined for another copy. `prepare` runs before anything is replaced. Throws `StoreError`, and the errors of node:fs.
 */
export async function restoreSqlite(
  { from, to, overwrite }: Copying,
  prepare: (note: BackupNote | undefined) => Promise<void>,
): Promise<BackupNote | undefined> {
  if (!existsSync(from)) throw new StoreError(`There is no file ${from}.`)
  const present = ['', ...BESIDE].map((suffix) => to + suffix).filter((path) => existsSync(path))
  if (present.length > 0 && !overwrite)
    throw new StoreError(`${present[0]} exists. Restore into another folder with --data, or replace it with --overwrite.`)
  await mkdir(dirname(to), { recursive: true, mode: 0o700 })
  const unfinished = `${to}.unfinished`
  await rm(unfinished, { force: true })
  try {
    await copyFile(from, unfinished, constants.COPYFILE_EXCL)
    await chmod(unfinished, 0o600)
    const note = checkCopy(unfinished, from)
    using _lock = existsSync(to) ? lockUnused(to) : undefined
    await prepare(note)
    for (const suffix of BESIDE) await rm(to + suffix, { force: true })
    await moveSynced(unfinished, to)
    return note
  } catch (error) {
    for (const suffix of ['', ...BESIDE]) await rm(unfinished + suffix, { force: true })
    throw error
  }
}

/** Checks that a copy is whole, and of a gateway. Removes the note of the backup from it, and returns it. */
function checkCopy(copy: string, from: string): BackupNote | undefined {
  try {
    return withDatabase(new DatabaseSync(copy), (database) => {
      const tables = new Set(
        database
          .prepare("select name from sqlite_schema where type = 'table'")
          .all()
          .map(({ name }) => name),
      )
      if (!tables.has('kysely_migration')) throw new StoreError(`${from} is not a backup of a gateway.`)
      const finding = database.prepare('pragma integrity_check(1)').get()?.integrity_check
      if (finding !== 'ok') throw new StoreError(`${from} is damaged (${finding}). Restore another backup.`)
      checkMigrated(
        database
          .prepare('select name from kysely_migration')
          .all()
          .map(({ name }) => String(name)),
      )
      // Else it may be two files.
      database.exec('pragma journal_mode = delete')
      if (!tables.has('backup')) return undefined
      const note = database.prepare('select made_at, made_by, journal from backup').get() as unknown as BackupNote
      database.exec('drop table backup')
      return note
    })
  } catch (error) {
    if (!(error instanceof StoreError) || error.code === undefined) throw error
    throw new StoreError(`${from} is not a backup of a gateway, or is damaged (${error.message}).`, { cause: error })
  }
}

/** Locks a database that is about to be replaced: no program can open it. Throws `StoreError` if one uses it. */
function lockUnused(file: string): Disposable {
  let database: DatabaseSync | undefined
  try {
    database = connectToSqliteFile(file, 'write')
    // Only the one connection of a database can end the write-ahead log. It also takes what is in the log into the file.
    database.exec('pragma journal_mode = delete')
    database.exec('begin exclusive')
  } catch (error) {
    database?.close()
    throw isBusy(error)
      ? new StoreError(`A gateway, or another program, uses the database ${file}. End it, then restore.`, { cause: error })
      : new StoreError(
          `The database ${file} cannot be locked (${(error as Error).message}), so that it is not known whether a gateway uses it. End the gateway, move ${file} and ${file}-wal away, then restore.`,
          { cause: error },
        )
  }
  const locked = database
  return { [Symbol.dispose]: () => locked.close() }
}

/** By the result code of SQLite: https://www.sqlite.org/rescode.html. */
const isBusy = (error: unknown): boolean => ((error as { readonly errcode?: number }).errcode ?? 0) % 256 === 5
