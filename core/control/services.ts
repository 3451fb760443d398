import type { OpenIdProvider } from '../accounts/openid.ts'
import type { Generation } from '../call/generation.ts'
import type { Log } from '../observe/log.ts'
import type { TargetReport } from '../routing/upstream-state.ts'
import type { Store } from '../store/database.ts'
import type { Diagnostic } from '../text/diagnostic.ts'
import type { CallRecorder } from '../usage/recorder.ts'
import type { Retention } from '../usage/retention.ts'

/** What the operations of the management API use. */
export interface ManagementServices extends Pick<ManagementOptions, 'openid' | 'trustedProxies'> {
  readonly store: Store
  readonly log: Log
  readonly recorder: CallRecorder
  /** How long calls and usage are kept. */
  readonly retention: Retention
  readonly version: string
  /** Known once the gateway listens. */
  urls(): Urls
  /** The generation that serves new calls. */
  readonly live: { readonly generation: Pick<Generation, 'config' | 'models' | 'table' | 'prices'> }
  /** The state of all targets. */
  targets(): Promise<readonly TargetReport[]>
  /** The routes.yaml in use, and the outcome of the last reload. */
  config(): ConfigState
  /** Reloads routes.yaml. */
  reload(trigger: ReloadTrigger): Promise<ReloadOutcome>
}

/** The operator's options for the management API. */
export interface ManagementOptions {
  /** Absent: the addresses that the gateway listens on. */
  readonly urls?: Partial<Urls>
  /** Another way to sign in. */
  readonly openid?: OpenIdProvider
  /** Addresses and networks of the proxies that are trusted to name the client. */
  readonly trustedProxies?: readonly string[]
}

/** The public origins of the gateway, for links and examples, without a slash at the end. */
export interface Urls {
  /** Of the API for clients; their base URL is this and `/v1`. */
  readonly clients: string
  /** Of the console and the management API. */
  readonly people: string
}

/** What caused a reload: a changed file, SIGHUP, `POST /-/reload`. */
export type ReloadTrigger = 'file' | 'signal' | 'request'

/** The outcome of a reload. */
export interface ReloadOutcome {
  /** Milliseconds since 1970. */
  readonly at: number
  /** False: the previous configuration stays in use. */
  readonly ok: boolean
  /** The errors; empty if there are none. */
  readonly diagnostics: readonly Diagnostic[]
  /** A line for each change; empty if nothing changed or the reload failed. */
  readonly difference: readonly string[]
}

/** The routes.yaml in use. */
export interface ConfigState {
  /** Absolute path. */
  readonly file: string
  /** The text as it was read. It contains references to secrets, no secrets. */
  readonly text: string
  /** Of the text. */
  readonly sha256: string
  /** Milliseconds since 1970. */
  readonly loadedAt: number
  /** Absent: not reloaded since the start. */
  readonly lastReload?: ReloadOutcome
}
