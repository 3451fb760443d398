import { Flusher } from '../async/flusher.ts'
import type { ErrorName } from '../error-table.ts'
import type { Log } from '../observe/log.ts'
import { METRICS } from '../observe/metric-definitions.ts'
import type { Metrics } from '../observe/metrics.ts'
import type { HostCounter } from '../sdk/api.ts'
import type { Store } from '../store/database.ts'
import type { CallsTable } from '../store/schema.ts'
import { storageError } from '../store/unavailable.ts'
import type { TraceRecord } from '../telemetry/call-trace.ts'
import type { CallJournal } from './call-journal.ts'
import type { CallRecord, CallSink } from './call-record.ts'
import { type CallWriter, createCallWriter } from './call-writer.ts'
import { JournalReplay } from './journal-replay.ts'
import { type Retention, startRetention } from './retention.ts'

/** Calls in one transaction. */
const MAX_BATCH = 1000
/** How long a call waits for others: calls of one batch share usage rows. */
const BATCH_DELAY_MS = 1000
/** After a failure. */
const RETRY_DELAY_MS = 1000
/** Calls in memory, some 10 MB. Further calls are counted as dropped, and get no row. */
const MAX_WAITING = 10_000
/** Deadline of the last write, when the gateway ends. */
const LAST_WRITE_MS = 5000

/** Why a write can fail. */
const FAILURES: readonly ErrorName[] = [
  'storage_busy',
  'storage_full',
  'storage_damaged',
  'storage_unavailable',
  'internal_error',
]

/** The options of a `CallRecorder`. */
interface CallRecorderOptions {
  readonly writer: Pick<CallWriter, 'write'>
  readonly log: Pick<Log, 'info' | 'warn' | 'error' | 'writeLine'>
  /** Counts calls without a row. */
  readonly dropped: HostCounter
  /** Counts failed writes, by the name of the error. */
  readonly failures: HostCounter
  /** Called with the rows that are written, and with those that are lost. */
  onWritten?(rows: readonly CallsTable[]): void
  /** Takes the calls that are traced; absent: none is. */
  readonly spans?: SpanSink | undefined
}

/** Makes the spans of calls. */
interface SpanSink {
  add(call: { readonly row: CallsTable; readonly trace: TraceRecord }): void
}

/** Writes calls to the log as they end, and to the database in batches: no call waits for the database or fails with it. */
export class CallRecorder implements CallSink {
  readonly #options: CallRecorderOptions
  readonly #rows: Flusher<CallsTable>
  readonly #listeners = new Set<(call: CallsTable) => void>()
  readonly #ending = new AbortController()
  /** Why the last write failed. */
  #failure: ErrorName | undefined

  constructor(options: CallRecorderOptions) {
    const { dropped, failures } = options
    this.#options = options
    this.#rows = new Flusher({
      maxBatch: MAX_BATCH,
      maxWaiting: MAX_WAITING,
      delayMs: BATCH_DELAY_MS,
      retryMs: RETRY_DELAY_MS,
      write: (batch) => this.#write(batch),
      onFull: (row) => {
        dropped.add(1)
        options.onWritten?.([row])
      },
    })
    dropped.add(0)
    for (const error of FAILURES) failures.add(0, error)
  }

  record({ line, row, trace }: CallRecord): void {
    if (line !== undefined) this.#options.log.writeLine(line.level, line.fields, 'call')
    if (row === undefined) return
    for (const listener of this.#listeners) listener(row)
    if (trace !== undefined) this.#options.spans?.add({ row, trace })
    this.#rows.add(row)
  }

  /** Resolves when all calls that were recorded so far are written, or lost. */
  written(): Promise<void> {
    return this.#rows.flushed()
  }

  /** Finds a call that is not written yet. */
  find(id: string): CallsTable | undefined {
    return this.#rows.waiting.find((row) => row.id === id)
  }

  /** Calls `listener` with each call as it ends, until the returned function is called. */
  listen(listener: (call: CallsTable) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Aborted when the gateway begins to drain: ends the streams of live calls. */
  get ending(): AbortSignal {
    return this.#ending.signal
  }

  /** Called when the gateway begins to drain. */
  end(): void {
    this.#ending.abort()
  }

  /** Writes all waiting calls, if the database is available. No call may end after this. */
  async close(): Promise<void> {
    const { length: lost } = await this.#rows.close(LAST_WRITE_MS)
    if (lost === 0) return
    this.#options.dropped.add(lost)
    this.#options.log.error({ calls: lost }, 'usage rows lost at shutdown')
  }

  async #write(batch: readonly CallsTable[]): Promise<void> {
    const { writer, log, failures, onWritten } = this.#options
    try {
      await writer.write(batch)
    } catch (err) {
      const known = storageError(err)
      const failure = known?.row ?? 'internal_error'
      failures.add(1, failure)
      if (failure !== this.#failure)
        log.warn({ err, ...(known && { detail: known.message }) }, 'cannot write usage rows, retrying')
      this.#failure = failure
      throw err
    }
    onWritten?.(batch)
    if (this.#failure !== undefined) log.info({ calls: batch.length }, 'usage rows written again')
    this.#failure = undefined
  }
}

/** The options of `openUsage`. */
interface UsageServiceOptions {
  readonly store: Store
  readonly log: Log
  readonly metrics: Metrics
  readonly retention: Retention
  /** The folder of the journals of this gateway's processes; absent: they have none. */
  readonly journals?: string
  /** The journal of this process, if it serves calls. */
  readonly journal?: Pick<CallJournal, 'done'>
  readonly spans?: SpanSink | undefined
}

/** Creates the recorder of calls, and removes rows after their retention. */
export function openUsage({ store, log, metrics, retention, journals, journal, spans }: UsageServiceOptions): {
  readonly recorder: CallRecorder
  close(): Promise<void>
} {
  const writer = createCallWriter(store)
  const dropped = metrics.declare(METRICS.usageRowsDropped)
  const failures = metrics.declare(METRICS.usageWriteFailures)
  const damaged = metrics.declare(METRICS.journalLinesDamaged)
  const unreadable = metrics.declare(METRICS.journalsUnreadable)
  const onWritten = journal && ((rows: readonly CallsTable[]) => journal.done(rows))
  const recorder = new CallRecorder({ writer, log, dropped, failures, spans, ...(onWritten && { onWritten }) })
  const written = () => recorder.written()
  const replay =
    journals === undefined
      ? undefined
      : new JournalReplay({
          folder: journals,
          writer,
          written,
          log,
          onDamaged: (lines) => damaged.add(lines),
          onUnreadable: () => unreadable.add(1),
        })
  const stopRetention = startRetention(retention, { writer, log })
  return {
    recorder,
    async close() {
      stopRetention()
      await recorder.close()
      await replay?.close()
    },
  }
}
