import type { ParameterizedContext } from 'koa'
import type { GatewayError } from '../errors.ts'
import { closeFacade } from '../plugins/facade.ts'
import type {
  AttemptRecord,
  Call,
  CallState,
  Cost,
  EndpointName,
  ModelId,
  Outcome,
  Principal,
  Reply,
  ReplyTransform,
  RouteTrace,
  Served,
  Usage,
} from '../sdk/api.ts'
import type { CallLinks } from './chain.ts'
import type { Exchange } from './exchange.ts'

/** `ctx.state` of every link: the part of a call that the plugin API documents. It gives no access to the rest of core. */
export class LinkState implements CallState {
  readonly #exchange: Exchange
  #reply: Reply | undefined

  constructor(exchange: Exchange) {
    this.#exchange = exchange
  }

  /** The exchange of a request. Plugins cannot call it: no state leads to its class. */
  static exchangeOf({ state }: Pick<ParameterizedContext, 'state'>): Exchange {
    return (state as LinkState).#exchange
  }

  get id(): string {
    return this.#exchange.id
  }

  get endpoint(): EndpointName {
    return this.#exchange.endpointName as EndpointName
  }

  get principal(): Principal | undefined {
    return this.#exchange.principal
  }

  set principal(principal: Principal | undefined) {
    this.#exchange.principal = principal
  }

  get tags(): Record<string, string> {
    return this.#exchange.tags
  }

  get upstreamHeaders(): Record<string, string> {
    return this.#exchange.upstreamHeaders
  }

  /** After a refusal undefined too if it exists and the caller may not call it: what a link shows of it would tell that it exists. */
  get model(): ModelId | undefined {
    if (this.#exchange.failure?.row === 'model_not_found') return undefined
    return this.#exchange.model
  }

  get reply(): Reply {
    this.#reply ??= replyOf(this.#exchange.links!)
    return this.#reply
  }

  get served(): Served | undefined {
    return this.#exchange.attempts!.served?.by
  }

  get attempts(): readonly AttemptRecord[] {
    return this.#exchange.attempts!.soFar
  }

  get cost(): Cost | undefined {
    const { stream, charge } = this.#exchange
    return stream === undefined ? charge?.cost : undefined
  }

  get trace(): RouteTrace | undefined {
    return this.#exchange.attempts!.routeTrace
  }

  get failure(): GatewayError | undefined {
    return this.#exchange.failure
  }

  get signal(): AbortSignal {
    return this.#exchange.signal
  }

  call(): Promise<Call> {
    return this.#exchange.links!.current.outside(() => this.#exchange.call())
  }

  elapsed(): { readonly total: number; readonly overhead: number } {
    const { total, overhead } = this.#exchange.times.elapsed()
    return { total, overhead }
  }

  onRetry(fn: (used: Usage) => void | Promise<void>): void {
    this.#exchange.links!.onRetry(fn)
  }

  onSettled(fn: (outcome: Outcome) => void | Promise<void>): void {
    this.#exchange.links!.onSettled(fn)
  }
}

function replyOf(links: CallLinks): Reply {
  return Object.freeze<Reply>({
    send: (reply) => links.replyWith(reply),
    transform: (transform: ReplyTransform) => links.transform(transform),
  })
}

closeFacade(LinkState)

/** The exchange of a request's `ctx.state`. */
export const { exchangeOf } = LinkState
