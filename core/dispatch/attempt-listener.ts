import type { ErrorName } from '../error-table.ts'
import type { GatewayError } from '../errors.ts'
import type { ChargedTokens } from '../protocol/usage-report.ts'

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
  readonly tokens: ChargedTokens | undefined
}
