import { closeSync, ftruncateSync, mkdirSync, openSync, unlinkSync, writeSync } from 'node:fs'
import type { Log } from '../observe/log.ts'
import type { AttemptRecord } from '../sdk/api.ts'
import type { CallsTable } from '../store/schema.ts'
import { JournalLock, journalPath } from './journal-files.ts'
import { lineOf, type ServedCall } from './served-call.ts'

/** A file gets no more lines from this size on, in bytes. */
const FULL = 1024 * 1024
/** A file of which nothing is needed any more is emptied from this size on, in bytes. */
const WORTH_EMPTYING = 64 * 1024
/** After a failed write, for example to a full disk, in milliseconds. */
const RETRY_MS = 10_000

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
  readonly log: Pick<Log, 'warn'>
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
  #text = ''
  #count = 0
  #retryAt = 0
  #hasFailed = false

  constructor(options: CallJournalOptions) {
    this.#options = options
  }

  /**
   * Notes a call whose attempt has used tokens. It is in the file before the continuation of any promise that is resolved after this, and
   * after `flush`.
   */
  note(call: ServedCall, attempt: AttemptRecord): void {
    const file = this.#current ?? this.#open()
    if (file === undefined) return
    this.#release(this.#files.get(call.id))
    this.#files.set(call.id, file)
    file.needed += 1
    // One write for all calls that one turn of the event loop brings.
    if (this.#text === '') queueMicrotask(() => this.flush())
    this.#text += `${lineOf(call, attempt)}\n`
  }

  /** Writes what was noted. */
  flush(): void {
    if (this.#text === '') return
    const text = this.#text
    const file = this.#current!
    this.#text = ''
    this.#attempt(() => {
      file.size += append(file, Buffer.from(text))
      this.#hasFailed = false
      if (file.size >= FULL) this.#current = undefined
    })
  }

  /** The rows of calls are written, or lost for good: their lines are not needed any more. */
  done(rows: readonly Pick<CallsTable, 'id'>[]): void {
    for (const { id } of rows) {
      this.#release(this.#files.get(id))
      this.#files.delete(id)
    }
  }

  /** Removes the files, except those with calls that have no row yet. No call may be noted after this. */
  close(): void {
    this.flush()
    const file = this.#current
    this.#current = undefined
    if (file?.needed === 0) this.#remove(file)
    // Also if files are left: those that look for journals of ended processes read them then.
    this.#attempt(() => this.#lock?.release())
    this.#lock = undefined
  }

  #open(): JournalFile | undefined {
    if (performance.now() < this.#retryAt) return undefined
    this.#attempt(() => {
      const { folder } = this.#options
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      this.#lock ??= new JournalLock(folder)
      const path = journalPath(folder, this.#lock.process, ++this.#count)
      this.#current = { path, descriptor: openSync(path, 'a', 0o600), size: 0, needed: 0 }
    })
    return this.#current
  }

  #release(file: JournalFile | undefined): void {
    if (file === undefined) return
    file.needed -= 1
    if (file.needed > 0) return
    if (file !== this.#current) this.#remove(file)
    else if (file.size >= WORTH_EMPTYING && this.#text === '')
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
    } catch (err) {
      this.#current = undefined
      this.#retryAt = performance.now() + RETRY_MS
      if (!this.#hasFailed)
        this.#options.log.warn({ err }, 'cannot write the journal of calls, retrying: calls of a killed process may have no rows')
      this.#hasFailed = true
    }
  }
}

/**
 * Writes all of the bytes. A disk that is nearly full takes a part of them without an error, and then none: the part is cut back, so that no
 * line is broken. Returns the number of bytes. Throws the errors of node:fs.
 */
function append({ descriptor, size }: JournalFile, bytes: Buffer): number {
  let written = 0
  try {
    while (written < bytes.length) written += writeSync(descriptor, bytes, written)
    return written
  } catch (error) {
    if (written > 0) ftruncateSync(descriptor, size)
    throw error
  }
}
