import type { ErrorName, GatewayError } from '../errors.ts'
import type { Call, Provider, Served } from '../plugin/api.ts'
import type { PhaseLimits } from './deadlines.ts'
import type { ReplyFormat } from './endpoint.ts'
import type { LinkTransform } from './readers/transform.ts'
import type { Relay } from './relay.ts'

/** One try: whom to ask, how to read the reply, and where a stream goes. */
export interface AttemptPlan {
  readonly call: Call
  readonly served: Served
  /** How the provider serves the call's endpoint, and reads what a reply that is no success means. */
  readonly operation: Pick<Provider, 'request' | 'translator' | 'error'>
  readonly number: number
  /** The upstream refused the credential of the try before. */
  readonly credentialRefused: boolean
  /** Whether a parameter that the provider leaves out makes it unfit. */
  readonly strict: boolean
  readonly format: ReplyFormat
  readonly limits: PhaseLimits
  /** Where the reply goes if it is a stream; absent for a whole reply. */
  readonly relay: Relay | undefined
  readonly transforms: readonly LinkTransform[]
  /** The requested id, where the table passes the model's name through. */
  readonly passedThrough: string | undefined
  /** Whether another target is left to try. */
  readonly hold: boolean
  /** On a new connection: the one before was stale. */
  readonly fresh: boolean
  readonly owner: AttemptOwner
}

/** Who hears how an attempt ended. */
export interface AttemptOwner {
  /** Called once, before what `run` returned settles. */
  onOver(end: AttemptEnd): void
}

/** How an attempt ended, for its record. */
export interface AttemptEnd {
  readonly result: 'ok' | 'client_closed' | ErrorName
  readonly error?: GatewayError
  /** A stream was on its way to the client already. */
  readonly committed: boolean
}
