import { readdir, readFile, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { Log } from '../observe/log.ts'
import { startOf } from './call-journal.ts'
import type { CallWriter } from './call-writer.ts'
import { rowOfLine } from './served-call.ts'

/** How often the files of ended processes are looked for, in milliseconds. */
const LOOK_MS = 1000
/** Calls in one transaction. */
const MAX_BATCH = 1000

const NAME = /^(\d+)-(\d+)-(\d+)\.jsonl$/

/** The options of a `JournalReplay`. */
export interface JournalReplayOptions {
  /** The folder of the journals of all processes. */
  readonly folder: string
  readonly writer: Pick<CallWriter, 'write'>
  /** Resolves when all calls that were recorded so far have rows. */
  written(): Promise<void>
  readonly log: Pick<Log, 'info' | 'warn'>
}

/** A file of a journal. */
interface Found {
  readonly name: string
  readonly process: string
  readonly number: number
  readonly isEnded: boolean
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
      const ended = (await this.#find()).filter(({ isEnded }) => isEnded)
      for (const [process, files] of Map.groupBy(ended, (file) => file.process))
        if (isDue(process)) await this.#replay(process, files)
      this.#ended = new Set(ended.map(({ process }) => process))
      this.#hasFailed = false
    } catch (err) {
      if (!this.#hasFailed) this.#options.log.warn({ err }, 'cannot write the calls of ended processes, retrying')
      this.#hasFailed = true
    }
  }

  async #find(): Promise<readonly Found[]> {
    const names = await readdir(this.#options.folder).catch(ignoreMissing)
    return (names ?? []).flatMap((name) => {
      const [, pid, start, number] = NAME.exec(name) ?? []
      if (pid === undefined) return []
      return [{ name, process: `${pid}-${start}`, number: Number(number), isEnded: startOf(Number(pid)) !== start }]
    })
  }

  async #replay(process: string, files: readonly Found[]): Promise<void> {
    const { folder, writer, written, log } = this.#options
    await written()
    const paths = files.toSorted((a, b) => a.number - b.number).map(({ name }) => join(folder, name))
    const lines = new Map<string, string>()
    // A call may have several lines: the last one counts.
    for (const path of paths) for (const line of await linesOf(path)) lines.set(JSON.parse(line)[0], line)
    const rows = Array.from(lines.values(), rowOfLine)
    for (let from = 0; from < rows.length; from += MAX_BATCH) await writer.write(rows.slice(from, from + MAX_BATCH))
    for (const path of paths) await unlink(path).catch(ignoreMissing)
    if (rows.length > 0) log.info({ process, calls: rows.length }, 'read the journal of an ended process')
  }
}

/** The whole lines of a file. A process may be killed in the middle of a write. */
async function linesOf(path: string): Promise<readonly string[]> {
  const text = await readFile(path, 'utf8').catch(ignoreMissing)
  return text === undefined
    ? []
    : text
        .slice(0, text.lastIndexOf('\n') + 1)
        .split('\n')
        .filter((line) => line !== '')
}

/** Another gateway may read the same folder. */
function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}
