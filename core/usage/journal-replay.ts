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
  /** The files whose failure is in the log. */
  readonly #reported = new Set<string>()

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
    try {
      const ended = (await findJournals(this.#options.folder)).filter(({ isEnded }) => isEnded)
      for (const [process, files] of Map.groupBy(ended, (file) => file.process))
        if (isDue(process)) await this.#replay(process, files)
      this.#ended = new Set(ended.map(({ process }) => process))
      this.#hasFailed = false
    } catch (err) {
      if (!this.#hasFailed) this.#options.log.warn({ err }, 'cannot write the calls of ended processes, retrying')
      this.#hasFailed = true
    }
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
      if (!this.#reported.has(path)) this.#options.log.warn({ file: path, err }, 'cannot read a journal of calls, retrying')
      this.#reported.add(path)
      return undefined
    }
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
