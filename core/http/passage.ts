import type { ParameterizedContext } from 'koa'
import type { CallState } from '../plugin/api.ts'
import type { Exchange } from './exchange.ts'

/** Koa's context with our state. */
export type CallContext = ParameterizedContext<CallState>

/** One call on its way through the links. */
export interface Passage {
  readonly ctx: CallContext
  readonly exchange: Exchange
  /** What stands behind the last link. */
  endpoint(): Promise<void>
  /** What stands behind a link that calls no other: it has replied by itself. */
  answer(): Promise<void>
}
