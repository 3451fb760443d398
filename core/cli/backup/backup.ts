import { mkdir, stat, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { databaseUrl, sqliteFileOf } from '../../store/database.ts'
import { backUpSqlite } from '../../store/sqlite-backup.ts'
import { restoreSqlite } from '../../store/sqlite-restore.ts'
import { StoreError } from '../../store/unavailable.ts'
import { findJournals, pathOfEnded, readJournal } from '../../usage/journal-files.ts'
import { type CommandIo, formatTime, type JsonOption, writeJson } from '../output.ts'
import { journalsIn } from '../start/lifecycle.ts'

/** The options of `umg restore`. */
export interface RestoreOptions extends JsonOption {
  readonly file: string
  /** The data folder. */
  readonly data: string
  readonly database?: string
  readonly overwrite?: boolean
}

/** The options of `umg backup`. */
export interface BackupOptions extends RestoreOptions {
  /** The version of the package. */
  readonly version: string
}

/** `umg backup FILE`. Resolves to the exit code. */
export async function backupCommand({ version, ...options }: BackupOptions, io: CommandIo): Promise<number> {
  return orFailed(io, async () => {
    const from = fileOf(options, 'pg_dump --format=custom --file=FILE URL')
    const to = resolve(options.file)
    // Before the copy of the database: what leaves a journal after this has a row in the copy.
    const journal = await readJournals(journalsIn(options), io)
    await backUpSqlite(
      { from, to, overwrite: options.overwrite === true },
      { made_at: Date.now(), made_by: version, journal: journal.map((line) => `${line}\n`).join('') },
    )
    const { size } = await stat(to)
    if (options.json === true) writeJson({ file: to, bytes: size, database: from }, io)
    else io.stdout.write(`${to}: ${(size / 1024 / 1024).toFixed(1)} MiB, from ${from}\n`)
  })
}

/** `umg restore FILE`. Resolves to the exit code. */
export async function restoreCommand(options: RestoreOptions, io: CommandIo): Promise<number> {
  return orFailed(io, async () => {
    const to = fileOf(options, 'pg_restore --clean --if-exists --dbname=URL FILE')
    const from = resolve(options.file)
    const note = await restoreSqlite({ from, to, overwrite: options.overwrite === true }, async (made) => {
      if (made !== undefined && made.journal !== '') await writeJournal(journalsIn(options), made.journal)
    })
    const madeAt = note === undefined ? undefined : formatTime(note.made_at)
    if (options.json === true) writeJson({ database: to, file: from, made_at: madeAt ?? null }, io)
    else io.stdout.write(`${to}: restored from ${from}${madeAt === undefined ? '' : `, as it was at ${madeAt}`}\n`)
  })
}

/** The path of the SQLite file. `tool`: what does the same for PostgreSQL. Throws `StoreError`. */
function fileOf(options: RestoreOptions, tool: string): string {
  const url = databaseUrl(options)
  const file = sqliteFileOf(url)
  if (file === ':memory:') throw new StoreError('A database in memory cannot be backed up or restored.')
  if (file !== undefined) return resolve(file)
  throw new StoreError(
    /^postgres(?:ql)?:/.test(url)
      ? `This database is PostgreSQL, which has its own tool for that: ${tool}`
      : 'The database URL must be `sqlite:<path of a file>`.',
  )
}

/** The calls in the journals of all processes: also of those that run. Names those that cannot be read. */
async function readJournals(folder: string, { stderr }: CommandIo): Promise<readonly string[]> {
  const files = (await findJournals(folder)).toSorted((a, b) => a.number - b.number)
  const read = await Promise.all(
    files.map(({ path }) =>
      readJournal(path).catch((error: Error) => {
        stderr.write(`The backup is without a journal of calls that cannot be read: ${error.message}\n`)
      }),
    ),
  )
  return Array.from(new Map(read.flatMap((journal) => [...(journal?.calls ?? [])])).values(), ({ line }) => line)
}

/** The next gateway writes the rows of these calls, unless they have rows. */
async function writeJournal(folder: string, lines: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await writeFile(pathOfEnded(folder), lines, { flag: 'wx', mode: 0o600 })
}

/** Prints what the operator can correct: the errors of the database and of files. Resolves to the exit code. */
async function orFailed({ stderr }: CommandIo, command: () => Promise<void>): Promise<0 | 1> {
  try {
    await command()
    return 0
  } catch (error) {
    const isOfFiles = error instanceof Error && 'syscall' in error
    if (!(error instanceof StoreError) && !isOfFiles) throw error
    stderr.write(`${error.message}\n`)
    return 1
  }
}
