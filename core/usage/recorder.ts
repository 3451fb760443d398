import { withTimeout } from '../async/timeout.ts'
import type { Logger } from '../observe/log.ts'
import { METRICS } from '../observe/metric-definitions.ts'
import type { Metrics } from '../observe/metrics.ts'
import type { HostCounter, Outcome } from '../sdk/api.ts'
import type { Store } from '../store/database.ts'
import type { CallsTable } from '../store/schema.ts'
import { callRow, type KnownCall } from './call-row.ts'
import { type CallWriter, createCallWriter } from './call-writer.ts'
import { type Keep, keepWithin } from './retention.ts'

/** Calls that are written at once. */
const BATCH = 1000
/** How long a call waits for others: the more of them, the more of their sums are one. */
const GATHER_MS = 1000
/** After a failure. */
const RETRY_MS = 1000
/** Calls that wait, some 10 MB of them. What comes while there are so many is counted, and leaves no row. */
const MOST_WAITING = 10_000
/** For the last calls, when the gateway ends. */
const LAST_WRITE_MS = 5000

/** What a recorder works with. */
export interface RecorderParts {
  readonly writer: Pick<CallWriter, 'write'>
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>
  /** Calls that leave no row. */
  readonly dropped: HostCounter
}

/** Takes calls down as they end, and writes them in batches: no call waits for that, and none fails by it. */
export class CallRecorder {
  readonly #writer: RecorderParts['writer']
  readonly #log: RecorderParts['log']
  readonly #dropped: HostCounter
  readonly #listeners = new Set<(call: CallsTable) => void>()
  readonly #ending = new AbortController()
  /** Oldest first. They stay here until they are written. */
  #waiting: CallsTable[] = []
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> | undefined
  #failing = false
  #closing = false

  constructor({ writer, log, dropped }: RecorderParts) {
    this.#writer = writer
    this.#log = log
    this.#dropped = dropped
    dropped.add(0)
  }

  /** A call has ended. */
  record(outcome: Outcome, call: KnownCall): void {
    const row = callRow(outcome, call)
    for (const listener of this.#listeners) listener(row)
    if (this.#waiting.length >= MOST_WAITING) this.#dropped.add(1)
    else this.#waiting.push(row)
    this.#plan()
  }

  /** A call that has ended and is not written yet. */
  find(id: string): CallsTable | undefined {
    return this.#waiting.find((row) => row.id === id)
  }

  /** Calls `listener` with each call as it ends, until the function that this returns is called. */
  listen(listener: (call: CallsTable) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Aborted when the gateway begins to end: who follows calls as they end lets go. */
  get ending(): AbortSignal {
    return this.#ending.signal
  }

  /** The gateway begins to end. */
  end(): void {
    this.#ending.abort()
  }

  /** Writes what waits, if the database lets it. No call may end after this. */
  async close(): Promise<void> {
    this.#closing = true
    clearTimeout(this.#timer)
    await withTimeout(LAST_WRITE_MS, this.#writeRest()).catch(() => undefined)
    if (this.#waiting.length === 0) return
    this.#dropped.add(this.#waiting.length)
    this.#log.error({ calls: this.#waiting.length }, 'the last calls could not be written down')
  }

  /** Sees to it that what waits is written. */
  #plan(): void {
    if (this.#writing !== undefined || this.#closing) return
    if (this.#waiting.length >= BATCH && !this.#failing) this.#write()
    else this.#timer ??= setTimeout(() => this.#write(), this.#failing ? RETRY_MS : GATHER_MS).unref()
  }

  #write(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#writing = this.#writeBatch().finally(() => {
      this.#writing = undefined
      if (this.#waiting.length > 0) this.#plan()
    })
  }

  async #writeBatch(): Promise<void> {
    const batch = this.#waiting.slice(0, BATCH)
    try {
      await this.#writer.write(batch)
      this.#waiting = this.#waiting.slice(batch.length)
      if (this.#failing) this.#log.info('calls are written down again')
      this.#failing = false
    } catch (err) {
      if (!this.#failing) this.#log.warn({ err }, 'calls cannot be written down; they wait until the database takes them')
      this.#failing = true
    }
  }

  /** A database that has failed is tried once more. */
  async #writeRest(): Promise<void> {
    await this.#writing
    this.#failing = false
    while (this.#waiting.length > 0 && !this.#failing) await this.#writeBatch()
  }
}

/** What usage is made of. */
export interface UsageParts {
  readonly store: Store
  readonly log: Logger
  readonly metrics: Metrics
  readonly keep: Keep
}

/** Opens the record of calls: what the gateway writes down of them, and for how long. */
export function openUsage({ store, log, metrics, keep }: UsageParts): {
  readonly recorder: CallRecorder
  close(): Promise<void>
} {
  const writer = createCallWriter(store)
  const recorder = new CallRecorder({ writer, log, dropped: metrics.declare(METRICS.usageRowsDropped) })
  const endRetention = keepWithin(keep, { writer, log })
  return {
    recorder,
    async close() {
      endRetention()
      await recorder.close()
      await writer.close()
    },
  }
}
