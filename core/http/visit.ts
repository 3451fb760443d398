import type { Generation } from '../generation.ts'
import type { EndpointName } from '../plugin/api.ts'
import type { RelayTimes } from '../upstream/relay.ts'
import type { Arrival } from './arrival.ts'
import { readBody } from './body.ts'
import type { RequestCheck } from './check.ts'
import { ClientCall } from './client-call.ts'
import type { Exchange } from './exchange.ts'
import { takeOwnReply } from './own-reply.ts'
import type { CallContext, Passage } from './passage.ts'

/** What stands behind the chain. */
export interface Endpoint {
  readonly name: EndpointName
  /** Checks the body; absent: its requests have none. */
  readonly check?: RequestCheck
  /** Serves a call. Resolves when its head may go out. */
  run(exchange: Exchange, generation: Generation, ctx: CallContext): Promise<void>
}

/** What a visit is made of, beside its request. */
export interface VisitParts {
  readonly exchange: Exchange
  readonly endpoint: Endpoint
  readonly generation: Generation
  readonly relayTimes: RelayTimes
}

/** One request at its endpoint: what the chain wraps. */
export class Visit implements Passage, Arrival {
  readonly ctx: CallContext
  readonly #parts: VisitParts

  constructor(ctx: CallContext, parts: VisitParts) {
    this.ctx = ctx
    this.#parts = parts
  }

  get exchange(): Exchange {
    return this.#parts.exchange
  }

  get name(): EndpointName {
    return this.#parts.endpoint.name
  }

  get generation(): Generation {
    return this.#parts.generation
  }

  get hasBody(): boolean {
    return this.#parts.endpoint.check !== undefined
  }

  endpoint(): Promise<void> {
    const { endpoint, exchange, generation } = this.#parts
    return endpoint.run(exchange, generation, this.ctx)
  }

  /** A link's own reply takes the endpoint's place. */
  answer(): Promise<void> {
    const { exchange, generation, relayTimes } = this.#parts
    return takeOwnReply(exchange, generation, relayTimes)
  }

  async read(): Promise<ClientCall> {
    const { endpoint, exchange, generation } = this.#parts
    const bytes = await readBody(this.ctx.req, this.ctx.res)
    return new ClientCall(bytes, {
      id: exchange.id,
      endpoint: endpoint.name,
      check: endpoint.check!,
      resolve: (name) => generation.table.resolve(name),
      upstreamHeaders: exchange.upstreamHeaders,
    })
  }
}
