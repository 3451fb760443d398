import { closeSync, ftruncateSync, mkdirSync, openSync, unlinkSync, writeSync } from 'node:fs'
import type { Log } from '../observe/log.ts'
import { METRICS } from '../observe/metric-definitions.ts'
import type { Metrics } from '../observe/metrics.ts'
import type { AttemptRecord } from '../sdk/api.ts'
import type { CallsTable } from '../store/schema.ts'
import { JournalLock, journalPath } from './journal-files.ts'
import { lineOf, type ServedCall, type ServedCharge } from './served-call.ts'

/** A file gets no more lines from this size on, in bytes. */
const FULL = 1024 * 1024
/** A file without any needed line is emptied from this size on, in bytes. */
const WORTH_EMPTYING = 64 * 1024
/** After a failed write, for example to a full disk, in milliseconds. */
const RETRY_MS = 1000
/** Lines in memory that could not be written, some 4 MB. Further lines are lost. */
const MAX_UNWRITTEN = 10_000

interface JournalFile {
  readonly path: string
  readonly descriptor: number
  size: number
  /** The calls whose last line is in this file, and which have no row yet. */
  needed: number
}

/** The options of a `CallJournal`. */
export interface CallJournalOptions {
  readonly folder: string
  readonly log: Pick<Log, 'info' | 'warn'>
  /** A line could not be written, and had no room in memory. */
  onLost(): void
}

/**
 * Files in which a process writes down what its calls have cost before the end of their replies is sent, until their rows are written.
 * What a process has written to a file survives it, however it ends; when it has ended, `JournalReplay` writes the rows.
 */
export class CallJournal {
  readonly #options: CallJournalOptions
  /** By the id of the call. */
  readonly #files = new Map<string, JournalFile>()
  #lock: JournalLock | undefined
  #current: JournalFile | undefined
  #count = 0
  /** The calls that one turn of the event loop has brought, and their lines. */
  #ids: string[] = []
  #text = ''
  /** Lines that could not be written, by the id of the call. */
  readonly #unwritten = new Map<string, string>()
  /** The lines for which there was no room in memory, since the last failure began. */
  #lost = 0
  #retry: NodeJS.Timeout | undefined
  #hasFailed = false

  constructor(options: CallJournalOptions) {
    this.#options = options
  }

  /**
   * Notes a call whose attempt has used tokens; of several lines of a call the last one counts. It is in the file before the continuation of
   * any promise that is resolved after this, and after `flush`. `charge`: of an attempt that is under way, in place of the call's.
   */
  note(call: ServedCall, attempt: AttemptRecord, charge?: ServedCharge): void {
    const line = lineOf(call, attempt, charge)
    // One write for all calls that one turn of the event loop brings.
    if (this.#text === '') queueMicrotask(() => this.flush())
    this.#ids.push(call.id)
    this.#text += `${line}\n`
  }

  /** Writes what was noted; after a failure, keeps it in memory until the next attempt. */
  flush(): void {
    if (this.#text === '') return
    const ids = this.#ids
    const text = this.#text
    this.#ids = []
    this.#text = ''
    if (this.#retry === undefined && this.#unwritten.size === 0) this.#write(ids, text)
    else this.#keep(ids, text)
  }

  /** The rows of calls are written, or lost for good: their lines are not needed any more. */
  done(rows: readonly Pick<CallsTable, 'id'>[]): void {
    for (const { id } of rows) {
      this.#release(this.#files.get(id))
      this.#files.delete(id)
      this.#unwritten.delete(id)
    }
  }

  /** Removes the files, except those with calls that have no row yet. No call may be noted after this. */
  close(): void {
    this.flush()
    this.#writeKept()
    const file = this.#current
    this.#current = undefined
    if (file?.needed === 0) this.#remove(file)
    // Also if files are left: those that look for journals of ended processes read them then.
    this.#attempt(() => this.#lock?.release())
    this.#lock = undefined
    clearTimeout(this.#retry)
  }

  /** Writes lines, each with its line end. Those for which the disk has no room are kept. */
  #write(ids: readonly string[], text: string): void {
    let file: JournalFile
    try {
      file = this.#current ??= this.#open()
    } catch (error) {
      this.#failed(error)
      this.#keep(ids, text)
      return
    }
    const bytes = Buffer.from(text)
    const { written, error } = append(file, bytes)
    const whole = error === undefined ? ids.length : linesIn(bytes.subarray(0, written))
    for (let index = 0; index < whole; index++) this.#isIn(file, ids[index]!)
    if (error !== undefined) {
      this.#current = undefined
      if (file.needed === 0) this.#remove(file)
      this.#failed(error)
      this.#keep(ids.slice(whole), text.slice(bytes.toString('utf8', 0, written).length))
      return
    }
    if (file.size >= FULL) this.#current = undefined
    if (this.#hasFailed) this.#options.log.info({ lines: whole, lost: this.#lost }, 'the journal of calls is written again')
    this.#hasFailed = false
    this.#lost = 0
  }

  /** The last line of the call is in this file. */
  #isIn(file: JournalFile, id: string): void {
    file.needed += 1
    this.#release(this.#files.get(id))
    this.#files.set(id, file)
    this.#unwritten.delete(id)
  }

  #keep(ids: readonly string[], text: string): void {
    const lines = text.split('\n')
    for (const [index, id] of ids.entries()) {
      if (this.#unwritten.size < MAX_UNWRITTEN || this.#unwritten.has(id)) this.#unwritten.set(id, lines[index]!)
      else this.#lose(id)
    }
  }

  #lose(id: string): void {
    this.#options.onLost()
    this.#lost += 1
    if (this.#lost > 1) return
    const message =
      'lines of the journal of calls are lost: these calls have no rows if the process is killed before these are written'
    this.#options.log.warn({ id, kept: this.#unwritten.size }, message)
  }

  #writeKept(): void {
    clearTimeout(this.#retry)
    this.#retry = undefined
    if (this.#unwritten.size === 0) return
    this.#write([...this.#unwritten.keys()], Array.from(this.#unwritten.values(), (line) => `${line}\n`).join(''))
  }

  /** Throws the errors of node:fs and node:sqlite. */
  #open(): JournalFile {
    const { folder } = this.#options
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    this.#lock ??= new JournalLock(folder)
    const path = journalPath(folder, this.#lock.process, ++this.#count)
    return { path, descriptor: openSync(path, 'a', 0o600), size: 0, needed: 0 }
  }

  #release(file: JournalFile | undefined): void {
    if (file === undefined) return
    file.needed -= 1
    if (file.needed > 0) return
    if (file !== this.#current) this.#remove(file)
    else if (file.size >= WORTH_EMPTYING)
      this.#attempt(() => {
        ftruncateSync(file.descriptor)
        file.size = 0
      })
  }

  #remove({ path, descriptor }: JournalFile): void {
    this.#attempt(() => {
      closeSync(descriptor)
      unlinkSync(path)
    })
  }

  #attempt(work: () => void): void {
    try {
      work()
    } catch (error) {
      this.#current = undefined
      this.#failed(error)
    }
  }

  #failed(err: unknown): void {
    this.#retry ??= setTimeout(() => this.#writeKept(), RETRY_MS).unref()
    if (!this.#hasFailed)
      this.#options.log.warn({ err }, 'cannot write the journal of calls, retrying: calls of a killed process may have no rows')
    this.#hasFailed = true
  }
}

/** Opens the journal of this process. */
export function openJournal(
  folder: string,
  { log, metrics }: Pick<CallJournalOptions, 'log'> & { readonly metrics: Metrics },
): CallJournal {
  const lost = metrics.declare(METRICS.journalLinesLost)
  return new CallJournal({ folder, log, onLost: () => lost.add(1) })
}

const LINE_END = 0x0a

const linesIn = (bytes: Uint8Array): number => bytes.reduce((lines, byte) => lines + (byte === LINE_END ? 1 : 0), 0)

/**
 * Writes lines. A disk that is nearly full takes a part of them without an error, and then none: what is no whole line is cut back. Returns
 * the bytes of the whole lines that are written, and the error of node:fs if these are not all.
 */
function append(file: JournalFile, bytes: Buffer): { readonly written: number; readonly error?: unknown } {
  let written = 0
  try {
    while (written < bytes.length) written += writeSync(file.descriptor, bytes, written)
    file.size += written
    return { written }
  } catch (error) {
    const whole = bytes.subarray(0, written).lastIndexOf(LINE_END) + 1
    file.size += whole
    if (whole === written) return { written, error }
    try {
      ftruncateSync(file.descriptor, file.size)
    } catch {
      // The half of a line is then the end of the file, where it is no damage: the file gets no more lines.
    }
    return { written: whole, error }
  }
}
