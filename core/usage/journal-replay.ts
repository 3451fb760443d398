import { rename, unlink } from 'node:fs/promises'
import type { Log } from '../observe/log.ts'
import type { CallWriter } from './call-writer.ts'
import { type FoundJournal, findJournals, ignoreMissing, type ReadJournal, readJournal, removeLock } from './journal-files.ts'

/** How often the files of ended processes are looked for, in milliseconds. */
const LOOK_MS = 1000
/** Calls in one transaction. */
const MAX_BATCH = 1000

/** The options of a `JournalReplay`. */
export interface JournalReplayOptions {
  /** The folder of the journals of all processes. */
  readonly folder: string
  readonly writer: Pick<CallWriter, 'write'>
  /** Resolves when all calls that were recorded so far have rows. */
  written(): Promise<void>
  /** Lines could not be read: so many calls may have no rows. */
  onDamaged(lines: number): void
  /** A journal cannot be read, or it cannot be found out whether its process runs: its calls may have no rows. Called once for each. */
  onUnreadable(): void
  readonly log: Pick<Log, 'info' | 'warn'>
}

/**
 * Writes the rows of calls that processes have served and could not report, since they were killed: those of this gateway, and those of one
 * that ran with the same data folder before. A call that has a row keeps it.
 */
export class JournalReplay {
  readonly #options: JournalReplayOptions
  readonly #timer: NodeJS.Timeout
  /** Processes that had ended when the folder was looked at last. */
  #ended = new Set<string>()
  #looking: Promise<void> | undefined
  #hasFailed = false
  /** The files that cannot be read. Each is reported once. */
  readonly #unreadable = new Set<string>()

  constructor(options: JournalReplayOptions) {
    this.#options = options
    this.#timer = setInterval(() => {
      this.#looking ??= this.#look((process) => this.#ended.has(process)).finally(() => {
        this.#looking = undefined
      })
    }, LOOK_MS).unref()
  }

  /** Looks once more. All calls must have been recorded. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#looking
    await this.#look(() => true)
  }

  /** `isDue`: whether the files of an ended process are read. What it has sent before its end may still be on the way. */
  async #look(isDue: (process: string) => boolean): Promise<void> {
    const failures: unknown[] = []
    try {
      const found = await findJournals(this.#options.folder)
      for (const { path, lockError } of found) if (lockError !== undefined) this.#cannotRead(path, lockError)
      const ended = Map.groupBy(
        found.filter(({ isEnded }) => isEnded),
        (file) => file.process,
      )
      for (const [process, files] of ended)
        if (isDue(process)) await this.#replay(process, files).catch((error: unknown) => failures.push(error))
      this.#ended = new Set(ended.keys())
    } catch (error) {
      failures.push(error)
    }
    const [err] = failures
    if (err !== undefined && !this.#hasFailed)
      this.#options.log.warn({ err }, 'cannot write the calls of ended processes, retrying')
    this.#hasFailed = err !== undefined
  }

  async #replay(process: string, files: readonly FoundJournal[]): Promise<void> {
    const { folder, writer, written, log } = this.#options
    await written()
    const read = new Map<string, ReadJournal>()
    for (const { path } of files.toSorted((a, b) => a.number - b.number)) {
      const journal = await this.#read(path)
      if (journal !== undefined) read.set(path, journal)
    }
    const calls = new Map([...read.values()].flatMap((journal) => [...journal.calls]))
    const rows = Array.from(calls.values(), ({ row }) => row)
    let added = 0
    for (let from = 0; from < rows.length; from += MAX_BATCH) added += await writer.write(rows.slice(from, from + MAX_BATCH))
    for (const [path, { damaged }] of read) await this.#remove(path, damaged)
    if (read.size === files.length) removeLock(folder, process)
    // A process that ends in order has reported its calls, but may not know yet that they have rows.
    if (added > 0) log.info({ process, calls: added }, 'read the journal of an ended process')
  }

  /** Undefined for a file that cannot be read: it costs no other. */
  async #read(path: string): Promise<ReadJournal | undefined> {
    try {
      return await readJournal(path)
    } catch (err) {
      this.#cannotRead(path, err)
      return undefined
    }
  }

  #cannotRead(file: string, err: unknown): void {
    if (this.#unreadable.has(file)) return
    this.#unreadable.add(file)
    this.#options.onUnreadable()
    this.#options.log.warn({ file, err }, 'cannot read a journal of calls, retrying')
  }

  /** Removes a file whose rows are written. One with lines that cannot be read is set aside, for people. */
  async #remove(path: string, damaged: ReadJournal['damaged']): Promise<void> {
    if (damaged.length === 0) {
      await unlink(path).catch(ignoreMissing)
      return
    }
    const aside = `${path}.damaged`
    await rename(path, aside).catch(ignoreMissing)
    this.#options.onDamaged(damaged.length)
    const [first] = damaged
    this.#options.log.warn(
      { file: aside, lines: damaged.length, line: first!.line, why: first!.why },
      'a journal of calls has lines that cannot be read: their calls may have no rows',
    )
  }
}
