import type { FileTexts } from '../config/file/files-read.ts'
import type { Added, Entry, Kept, Place, ValueStore } from '../kept/value-store.ts'
import type { AccountHolder, KeyHolder } from '../keys/principal.ts'
import type { KeySource } from '../keys/source.ts'
import type { Lease, LeaseRequest } from '../limits/counter.ts'
import type { MetricsState } from '../observe/metrics.ts'
import type { TargetReport } from '../routing/upstream-state.ts'
import type { Diagnostic } from '../text/diagnostic.ts'
import type { CallRecord, CallSink } from '../usage/call-record.ts'
import type { Channel } from './channel.ts'

/**
 * What serving calls needs of the control plane: the keys of the database, leases of the limits that all processes share, values that are kept for
 * a while, and where calls are written down. In one process these are the objects themselves; a proxy reaches them by messages (`RemoteControl`).
 */
export interface ControlPlane {
  readonly keys: KeySource
  /** Asks the authority of limits, in the name of this process. */
  renewLeases(requests: readonly LeaseRequest[]): Promise<readonly (Lease | null)[]>
  readonly recorder: CallSink
  /** What is kept for a while: in the database or Redis. */
  readonly values: ValueStore
}

/** The messages that a proxy sends to control. */
export interface ControlMessages {
  /** The holder of a key, by the digest of its secret; null if there is none. */
  findKey(digest: string): Promise<KeyHolder | null>
  /** An account by its id; null if there is none. */
  findAccount(id: string): Promise<AccountHolder | null>
  /** Asks the authority of limits. `holder`: the name of the proxy, which no other process ever has. */
  renewLeases(holder: string, requests: readonly LeaseRequest[]): Promise<readonly (Lease | null)[]>
  /** `ValueStore`'s methods. `ttlMs`: null for that of the space, since a message has no undefined. */
  getValues(place: Place, keys: readonly string[]): Promise<readonly Entry[]>
  putValues(place: Place, entries: readonly Entry[], ttlMs: number | null): Promise<Kept>
  addValue(place: Place, entry: Entry, ttlMs: number | null): Promise<Added>
  deleteValues(place: Place, keys: readonly string[]): Promise<void>
  /** Writes down calls that have ended, and the ids of keys that were used. */
  report(calls: readonly CallRecord[], keyIds: readonly string[]): void
  /** Resolves when the calls that were reported so far have rows, or are lost. */
  written(): Promise<void>
  /** The proxy serves its last calls: nobody waits for it any more. It may be said twice. */
  leaving(): void
  /** The proxy of this identity is about to end: the last state of its metrics. */
  leave(process: string, metrics: MetricsState): void
}

/** A connection, as the proxy has it. */
export type ControlChannel = Channel<ControlMessages, ProxyMessages>

/** A connection, as control has it. */
export type ProxyChannel = Channel<ProxyMessages, ControlMessages>

/** Who a proxy is. */
export interface Hello {
  /** Its identity. */
  readonly process: string
  /** Of its code. Absent: it is older than this member. */
  readonly version?: string
  /** The texts of the version of routes.yaml that it serves by; null if it serves by none yet. */
  readonly files: FileTexts | null
  /** It serves its last calls. */
  readonly leaving?: boolean
}

/** The messages that control sends to a proxy. */
export interface ProxyMessages {
  hello(): Hello
  /** Builds a generation of these files, until `activate` or `discard`. Returns the problems; empty if it can be activated. */
  prepare(files: FileTexts): Promise<readonly Diagnostic[]>
  /** Serves new calls by the generation that was prepared. */
  activate(): void
  discard(): void
  /** Keys changed: those of this key or account, or of unknown ones. */
  keysChanged(id: string | null): void
  /** Changes of keys have not been seen for too long: cached keys may no longer be used. */
  keysLost(): void
  metrics(): Promise<MetricsState>
  targets(): readonly TargetReport[]
}
