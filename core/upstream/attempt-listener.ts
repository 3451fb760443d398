import type { ErrorName } from '../error-table.ts'
import type { GatewayError } from '../errors.ts'
import type { Usage } from '../sdk/api.ts'

/** Receives the events of an attempt. */
export interface AttemptListener {
  /** The stream is committed: no other attempt can replace it. Not called for a whole reply. */
  onCommitted(): void
  /** Called once, last. */
  onEnded(end: AttemptEnd): void
}

/** How an attempt ended. */
export interface AttemptEnd {
  readonly result: 'ok' | 'client_closed' | ErrorName
  /** The failure; absent for `ok` and `client_closed`. */
  readonly error?: GatewayError
  /** The whole reply; absent for a stream. */
  readonly body?: Buffer
  /** A stream was already committed. */
  readonly committed: boolean
  /** Undefined for an attempt that is not charged. */
  readonly tokens: AttemptTokens | undefined
}

/** The tokens that an attempt has used. */
export interface AttemptTokens {
  readonly usage: Usage
  /** True if the upstream did not report it. */
  readonly estimated: boolean
}
