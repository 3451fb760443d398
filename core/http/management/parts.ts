import type { OpenIdProvider } from '../../accounts/openid.ts'
import type { Generation } from '../../generation.ts'
import type { Logger } from '../../observe/log.ts'
import type { ConfigState, ReloadOutcome, ReloadTrigger } from '../../reload.ts'
import type { Store } from '../../store/database.ts'
import type { CallRecorder } from '../../usage/recorder.ts'

/** Where the management API stands. */
export const BASE = '/api/v1'

/** How the gateway is reached from outside: what links and snippets say. Origins, without a slash at the end. */
export interface Urls {
  /** Where clients call; their base URL is this and `/v1`. */
  readonly clients: string
  /** Where people find `/console`, and it the management API. */
  readonly people: string
}

/** What the operator says of the management API. */
export interface ManagementOptions {
  /** Absent: the addresses it listens on. */
  readonly urls?: Partial<Urls>
  /** Where people may also sign in. */
  readonly openid?: OpenIdProvider
  /** Addresses and networks of proxies: what they say of where a request comes from is true. */
  readonly trustedProxies?: readonly string[]
}

/** What the handlers of the management API work with. */
export interface ManagementParts extends Pick<ManagementOptions, 'openid' | 'trustedProxies'> {
  readonly store: Store
  readonly log: Logger
  readonly recorder: CallRecorder
  readonly version: string
  /** Known once the gateway listens. */
  urls(): Urls
  /** The generation that serves new calls. */
  current(): Generation
  /** The routing table in use, and what came of reading it again. */
  config(): ConfigState
  /** Reads it again. */
  reload(trigger: ReloadTrigger): Promise<ReloadOutcome>
}
