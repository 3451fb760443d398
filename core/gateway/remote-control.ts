import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { Flusher } from '../async/flusher.ts'
import { withTimeout } from '../async/timeout.ts'
import { type Added, type Entry, sizeOf, type ValueStore } from '../kept/value-store.ts'
import type { KeySource, KeyWatcher } from '../keys/source.ts'
import type { Lease, LeaseRequest } from '../limits/counter.ts'
import type { MetricsState } from '../observe/metrics.ts'
import type { CallsTable } from '../store/schema.ts'
import { waitingTrace } from '../telemetry/call-trace.ts'
import { newId } from '../text/ids.ts'
import type { CallJournal } from '../usage/call-journal.ts'
import type { CallRecord, CallSink } from '../usage/call-record.ts'
import { Channel, ChannelError, EncodingError } from './channel.ts'
import type { ControlChannel, ControlMessages, ControlPlane, ProxyMessages } from './planes.ts'

/** How long a record waits for others, in milliseconds. */
const BATCH_DELAY_MS = 100
/** Calls in one message. */
const MAX_BATCH = 500
/** Calls in memory while control is away, some 10 MB without content. Further calls are counted as dropped. */
const MAX_WAITING = 10_000
/** The pause after a message that control did not take, in milliseconds: a new connection ends it. */
const RETRY_MS = 1000
/** Deadline of the last messages, when the process ends, in milliseconds. */
const LAST_REPORT_MS = 5000
/** The pause between attempts to reach control, in milliseconds. */
const RECONNECT_MS = 50
/** How long a question waits, in milliseconds: longer than it takes to replace a control process that has ended. */
const ANSWER_MS = 5_000
/** How long values wait to be kept, in milliseconds: a control process may be replaced twice meanwhile. */
const KEEP_MS = 30_000
/** Bytes of values in memory that control has not kept yet. */
const MAX_VALUES = 16 << 20
/** After this time without control, or without its database, cached keys may no longer be used: revocations could not be seen. */
const KEYS_LOST_MS = 5 * 60_000

/** The id of no account: to look it up shows whether control has its database. */
const NOBODY = ''

/** The options of `RemoteControl`. */
export interface RemoteControlOptions {
  /** The path of control's socket. */
  readonly socket: string
  /** What control may call. */
  readonly messages: Omit<ProxyMessages, 'keysChanged' | 'keysLost'>
  /** Counts calls that were not written down. */
  onDropped(calls: number): void
  readonly journal?: CallJournal | undefined
}

/** The control plane of a proxy: messages to the control process. It connects again whenever that process is replaced. */
export class RemoteControl implements ControlPlane {
  readonly keys: KeySource
  readonly recorder: CallSink
  readonly values: ValueStore
  readonly #options: RemoteControlOptions
  readonly #watchers = new Set<KeyWatcher>()
  /** The name of this process for the authority of limits. */
  readonly #holder = newId('prc')
  readonly #closing = new AbortController()
  readonly #connecting: Promise<void>
  #channel: ControlChannel | undefined
  /** Resolves when control is connected. */
  #connected = Promise.withResolvers<ControlChannel>()
  #valueBytes = 0
  readonly #records: Flusher<CallRecord>
  #usedKeys = new Set<string>()
  #lostTimer: NodeJS.Timeout | undefined

  constructor(options: RemoteControlOptions) {
    this.#options = options
    this.keys = {
      find: (digest) => this.#lookUp((channel) => channel.call('findKey', digest)),
      findAccount: (id) => this.#lookUp((channel) => channel.call('findAccount', id)),
      used: (keyId) => void this.#usedKeys.add(keyId),
      watch: (watcher) => {
        this.#watchers.add(watcher)
        return () => this.#watchers.delete(watcher)
      },
    }
    this.#records = new Flusher({
      maxBatch: MAX_BATCH,
      maxWaiting: MAX_WAITING,
      delayMs: BATCH_DELAY_MS,
      retryMs: RETRY_MS,
      // One message at a time, so that a slow control process is not flooded.
      write: (batch) => this.#report(batch),
      onFull: (record) => this.#lose([record]),
    })
    this.recorder = { record: (record) => this.#record(record) }
    this.values = {
      get: (place, keys) => this.#ask((channel) => channel.call('getValues', place, keys)),
      put: (place, entries, ttlMs) => this.#keep(entries, (channel) => channel.call('putValues', place, entries, ttlMs ?? null)),
      add: (place, entry, ttlMs) => this.#keep([entry], (channel) => channel.call('addValue', place, entry, ttlMs ?? null)),
      delete: (place, keys) => this.#ask((channel) => channel.call('deleteValues', place, keys)),
    }
    this.#connecting = this.#stayConnected()
  }

  async renewLeases(requests: readonly LeaseRequest[]): Promise<readonly (Lease | null)[]> {
    return this.#reachable().call('renewLeases', this.#holder, requests)
  }

  /** Tells control that this process serves its last calls. A control process that connects later asks. */
  leaving(): void {
    this.#channel?.call('leaving').catch(() => undefined)
  }

  /** Sends the last state of the metrics, if control can be reached. */
  async leave(process: string, metrics: MetricsState): Promise<void> {
    await this.#channel?.call('leave', process, metrics).catch(() => undefined)
  }

  /** Sends all waiting records, if control can be reached. No call may end after this. */
  async close(): Promise<void> {
    const { length: lost } = await this.#records.close(LAST_REPORT_MS)
    if (lost > 0) this.#options.onDropped(lost)
    this.#closing.abort()
    clearTimeout(this.#lostTimer)
    this.#channel?.close()
    await this.#connecting
  }

  async #stayConnected(): Promise<void> {
    const { signal } = this.#closing
    while (!signal.aborted) {
      const channel = await this.#connect()
      if (channel === undefined) await delay(RECONNECT_MS, undefined, { signal }).catch(() => undefined)
      else await this.#useUntilClosed(channel)
    }
  }

  #connect(): Promise<ControlChannel | undefined> {
    return new Promise((resolve) => {
      const socket = connect(this.#options.socket)
      socket.once('error', () => resolve(undefined))
      socket.once('connect', () => {
        const notify = (tell: (watcher: KeyWatcher) => void) => () => this.#watchers.forEach(tell)
        const keysChanged = (id: string | null) => notify(({ changed }) => changed(id ?? undefined))()
        const methods: ProxyMessages = { ...this.#options.messages, keysChanged, keysLost: notify(({ lost }) => lost()) }
        resolve(new Channel<ControlMessages, ProxyMessages>(socket, methods))
      })
    })
  }

  async #useUntilClosed(channel: ControlChannel): Promise<void> {
    this.#channel = channel
    // Changes may have been missed meanwhile.
    for (const { changed } of this.#watchers) changed()
    this.#connected.resolve(channel)
    // Whether it has its database.
    this.keys.findAccount(NOBODY).catch(() => undefined)
    this.#records.retry()
    await new Promise<void>((resolve) => {
      if (channel.closed.aborted) resolve()
      else channel.closed.addEventListener('abort', () => resolve())
    })
    this.#channel = undefined
    this.#connected = Promise.withResolvers()
    this.#lostTimer ??= setTimeout(() => {
      this.#lostTimer = undefined
      for (const { lost } of this.#watchers) lost()
    }, KEYS_LOST_MS).unref()
  }

  /** Asks for what is in the database: an answer shows that control has it. */
  async #lookUp<Found>(ask: (channel: ControlChannel) => Promise<Found | null>): Promise<Found | undefined> {
    const found = (await this.#ask(ask)) ?? undefined
    clearTimeout(this.#lostTimer)
    this.#lostTimer = undefined
    return found
  }

  async #keep<Result extends Added>(
    entries: readonly Entry[],
    ask: (channel: ControlChannel) => Promise<Result>,
  ): Promise<Result | 'full'> {
    const bytes = entries.reduce((sum, entry) => sum + sizeOf(entry), 0)
    if (this.#valueBytes + bytes > MAX_VALUES) return 'full'
    this.#valueBytes += bytes
    try {
      return await withTimeout(KEEP_MS, this.#askAnyControl(ask))
    } finally {
      this.#valueBytes -= bytes
    }
  }

  #ask<Answer>(ask: (channel: ControlChannel) => Promise<Answer>): Promise<Answer> {
    return withTimeout(ANSWER_MS, this.#askAnyControl(ask))
  }

  /** While control is replaced, waits for its successor. */
  async #askAnyControl<Answer>(ask: (channel: ControlChannel) => Promise<Answer>): Promise<Answer> {
    for (;;) {
      const channel = await this.#connected.promise
      try {
        return await ask(channel)
      } catch (error) {
        if (!channel.closed.aborted) throw error
      }
    }
  }

  #reachable(): ControlChannel {
    if (this.#channel === undefined) throw new ChannelError('the control process cannot be reached')
    return this.#channel
  }

  #record(record: CallRecord): void {
    const { trace } = record
    this.#records.add(trace ? { ...record, trace: waitingTrace(trace, this.#records.waiting.length) } : record)
  }

  async #report(batch: readonly CallRecord[]): Promise<void> {
    const keyIds = [...this.#usedKeys]
    this.#usedKeys.clear()
    try {
      const channel = this.#reachable()
      const sent = await this.#send(channel, batch, keyIds)
      void this.#confirm(channel, rowsOf(sent))
    } catch (error) {
      for (const id of keyIds) this.#usedKeys.add(id)
      throw error
    }
  }

  /** Returns the records that were sent: what is not JSON, by a value that a plugin has set, is lost alone. */
  async #send(channel: ControlChannel, batch: readonly CallRecord[], keyIds: readonly string[]): Promise<readonly CallRecord[]> {
    try {
      await channel.call('report', batch, keyIds)
      return batch
    } catch (error) {
      if (!(error instanceof EncodingError)) throw error
    }
    const sent = batch.filter(isJson)
    await channel.call('report', sent, keyIds)
    this.#lose(batch.filter((record) => !sent.includes(record)))
    return sent
  }

  #lose(records: readonly CallRecord[]): void {
    this.#options.onDropped(records.length)
    this.#options.journal?.done(rowsOf(records))
  }

  /** Keeps rows until control has written them: a control process that is killed loses those that it has not. */
  async #confirm(channel: ControlChannel, rows: readonly CallsTable[]): Promise<void> {
    if (rows.length === 0) return
    try {
      await channel.call('written')
      this.#options.journal?.done(rows)
    } catch {
      this.#records.addAgain(rows.map((row) => ({ row })))
    }
  }
}

const rowsOf = (records: readonly CallRecord[]): CallsTable[] => records.flatMap(({ row }) => row ?? [])

function isJson(record: CallRecord): boolean {
  try {
    JSON.stringify(record)
    return true
  } catch {
    return false
  }
}
