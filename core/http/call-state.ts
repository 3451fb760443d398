import type { ParameterizedContext } from 'koa'
import type { GatewayError } from '../errors.ts'
import { closeFacade } from '../plugins/facade.ts'
import type {
  AttemptRecord,
  Call,
  CallState,
  EndpointName,
  ModelId,
  Outcome,
  Principal,
  Reply,
  ReplyTransform,
  RouteTrace,
  Served,
} from '../sdk/api.ts'
import type { Exchange } from './exchange.ts'

let open: (state: LinkState) => Exchange

/** The exchange behind a request's `ctx.state`. */
export const exchangeOf = ({ state }: Pick<ParameterizedContext, 'state'>): Exchange => open(state as LinkState)

/** `ctx.state` of every link: what the seam documents of a call. Nothing else of core can be reached through it. */
export class LinkState implements CallState {
  static {
    open = (state) => state.#exchange
  }

  readonly #exchange: Exchange
  #reply: Reply | undefined

  constructor(exchange: Exchange) {
    this.#exchange = exchange
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

  get model(): ModelId | undefined {
    return this.#exchange.model
  }

  get reply(): Reply {
    this.#reply ??= replyOf(this.#exchange)
    return this.#reply
  }

  get served(): Served | undefined {
    return this.#exchange.served
  }

  get attempts(): readonly AttemptRecord[] {
    return this.#exchange.attemptsSoFar
  }

  get trace(): RouteTrace | undefined {
    return this.#exchange.trace
  }

  get failure(): GatewayError | undefined {
    return this.#exchange.failure
  }

  get signal(): AbortSignal {
    return this.#exchange.signal
  }

  call(): Promise<Call> {
    return this.#exchange.call()
  }

  elapsed(): { readonly total: number; readonly overhead: number } {
    return this.#exchange.elapsed()
  }

  onSettled(fn: (outcome: Outcome) => void | Promise<void>): void {
    this.#exchange.onSettled(fn)
  }
}

function replyOf(exchange: Exchange): Reply {
  return Object.freeze<Reply>({
    send: (reply) => exchange.replyWith(reply),
    transform: (transform: ReplyTransform) => exchange.transform(transform),
  })
}

closeFacade(LinkState)
