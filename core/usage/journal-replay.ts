import { unlink } from 'node:fs/promises'
import type { Log } from '../observe/log.ts'
import type { CallWriter } from './call-writer.ts'
import { type FoundJournal, findJournals, ignoreMissing, readJournal } from './journal-files.ts'
import { rowOfLine } from './served-call.ts'

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
    const { writer, written, log } = this.#options
    await written()
    const lines = await readJournal(files)
    const rows = Array.from(lines.values(), rowOfLine)
    for (let from = 0; from < rows.length; from += MAX_BATCH) await writer.write(rows.slice(from, from + MAX_BATCH))
    for (const { path } of files) await unlink(path).catch(ignoreMissing)
    if (rows.length > 0) log.info({ process, calls: rows.length }, 'read the journal of an ended process')
  }
}
