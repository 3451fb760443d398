import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync, unlinkSync } from 'node:fs'
import { lstat, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { CodedError } from '../errors.ts'
import type { CallsTable } from '../store/schema.ts'
import { rowOfLine } from './served-call.ts'

/** `<process>-<number>.jsonl`; a process is named by a UUID, or by its id and its start, as before there were locks. */
const NAME = /^([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}|\d+-\d+)-(\d+)\.jsonl$/
const NAME_BEFORE_LOCKS = /^(\d+)-(\d+)$/

/** A file that was found: a part of the journal of a process. */
export interface FoundJournal {
  readonly path: string
  /** The process that has made it. */
  readonly process: string
  /** A process writes its files in this order. */
  readonly number: number
  readonly isEnded: boolean
  /** Why the lock of its process could not be tried. It counts as running then. */
  readonly lockError?: unknown
}

/** The path of a file of the journal of a process. */
export const journalPath = (folder: string, process: string, number: number): string => join(folder, `${process}-${number}.jsonl`)

/** The path of a file that belongs to no process: its calls are for the next gateway. */
export const pathOfEnded = (folder: string): string => journalPath(folder, randomUUID(), 1)

/** Milliseconds for which a process waits for its own lock, which another one may be trying. */
const LOCK_MS = 5000

const lockPath = (folder: string, process: string): string => join(folder, `${process}.lock`)

/**
 * The lock that says that the process which has a journal lives: the kernel releases it when the process ends, however that happens. It is
 * that of a SQLite file, since Node has no other: it holds across containers that share a folder, where ids of processes mean nothing.
 */
export class JournalLock {
  /** Names the process. */
  readonly process = randomUUID()
  readonly #path: string
  readonly #database: DatabaseSync

  /** Throws the errors of node:sqlite. */
  constructor(folder: string) {
    this.#path = lockPath(folder, this.process)
    this.#database = new DatabaseSync(this.#path, { timeout: LOCK_MS })
    this.#database.exec('BEGIN EXCLUSIVE')
  }

  release(): void {
    this.#database.close()
    unlinkSync(this.#path)
  }
}

/** Whether a process that has a journal lives. What cannot be tried counts as living: its files are not touched. */
function triedLock(path: string): Pick<FoundJournal, 'isEnded' | 'lockError'> {
  if (!existsSync(path)) return { isEnded: true }
  let database: DatabaseSync | undefined
  try {
    database = new DatabaseSync(path, { timeout: 0 })
    database.exec('BEGIN EXCLUSIVE')
    return { isEnded: true }
  } catch (error) {
    const { errcode = 0 } = error as { readonly errcode?: number }
    return { isEnded: false, ...((errcode & 0xff) !== SQLITE_BUSY && { lockError: error }) }
  } finally {
    database?.close()
  }
}

/** The primary result code if another process has the lock (https://www.sqlite.org/rescode.html). */
const SQLITE_BUSY = 5

/**
 * Whether this is the name of a process of a version before there were locks, and it still runs. Its start, in the ticks of the kernel, tells it
 * from a later process with its id.
 */
function runsWithoutLock(name: string): boolean {
  const [, pid, start] = NAME_BEFORE_LOCKS.exec(name) ?? []
  if (pid === undefined) return false
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The second field, the name in parentheses, may hold anything: proc(5).
    const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return state !== 'Z' && state !== 'X' && fields[18] === start
  } catch {
    return false
  }
}

/** Finds the files of the journals of all processes, and whatever else has the name of one. */
export async function findJournals(folder: string): Promise<readonly FoundJournal[]> {
  const names = (await readdir(folder).catch(ignoreMissing)) ?? []
  const found = names.flatMap((name) => {
    const [, process, number] = NAME.exec(name) ?? []
    return process === undefined ? [] : [{ path: join(folder, name), process, number: Number(number) }]
  })
  const locks = new Map(
    found.map(({ process }) => [process, runsWithoutLock(process) ? { isEnded: false } : triedLock(lockPath(folder, process))]),
  )
  return found.map((file) => ({ ...file, ...locks.get(file.process)! }))
}

/** Removes the lock of a process that has ended, of whose journal nothing is left. */
export function removeLock(folder: string, process: string): void {
  const path = lockPath(folder, process)
  if (existsSync(path)) unlinkSync(path)
}

/** What a file of a journal contains. */
export interface ReadJournal {
  /** The last line of each call, which is the one that counts, and its row, by the id of the call. */
  readonly calls: ReadonlyMap<string, { readonly line: string; readonly row: CallsTable }>
  /** The lines that cannot be read, by their number, and why. */
  readonly damaged: readonly { readonly line: number; readonly why: string }[]
}

/**
 * Reads a file. A line that cannot be read costs no other. Throws the errors of node:fs, but for a file that is gone, and `NOT_A_FILE` for what
 * is none: to open a pipe would never end.
 */
export async function readJournal(path: string): Promise<ReadJournal> {
  const found = await lstat(path).catch(ignoreMissing)
  if (found?.isFile() === false) throw new CodedError('NOT_A_FILE', `${path} is not a file`)
  const text = (await readFile(path, 'utf8').catch(ignoreMissing)) ?? ''
  const calls = new Map<string, { line: string; row: CallsTable }>()
  const damaged: { line: number; why: string }[] = []
  const lines = text.split('\n')
  // A process may be killed in the middle of a write: what has no end is no line.
  lines.pop()
  for (const [index, line] of lines.entries()) {
    try {
      const row = rowOfLine(line)
      calls.set(row.id, { line, row })
    } catch (error) {
      damaged.push({ line: index + 1, why: (error as Error).message })
    }
  }
  return { calls, damaged }
}

/** For a file that another process may remove. */
export function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}
