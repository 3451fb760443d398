import { setImmediate } from 'node:timers/promises'
import type { Generation } from '../generation.ts'
import type { Member } from '../json/scan.ts'
import type { EndpointName } from '../plugin/api.ts'
import type { RelayTimes } from '../upstream/relay.ts'
import type { Workers } from '../workers/pool.ts'
import type { Arrival } from './arrival.ts'
import { MAX_BODY, readBody } from './body.ts'
import type { RequestCheck } from './check.ts'
import { type CallContext, ClientCall } from './client-call.ts'
import type { Exchange } from './exchange.ts'
import { membersOfLarge } from './members.ts'
import { takeOwnReply } from './own-reply.ts'
import type { Passage, CallContext as RequestContext } from './passage.ts'

/** What stands behind the chain. */
export interface Endpoint {
  readonly name: EndpointName
  /** Checks the body; absent: its requests have none. */
  readonly check?: RequestCheck
  /** Serves a call. Resolves when its head may go out. */
  run(exchange: Exchange, generation: Generation, ctx: RequestContext): Promise<void>
}

/** What a visit is made of, beside its request. */
export interface VisitParts {
  readonly exchange: Exchange
  readonly endpoint: Endpoint
  readonly generation: Generation
  readonly relayTimes: RelayTimes
  readonly workers: Pick<Workers, 'scan'>
}

/** Looking through a body takes some milliseconds from here on: a thread does it. Bytes. */
const LARGE = 4 << 20

/** One request at its endpoint: what the chain wraps. */
export class Visit implements Passage, Arrival {
  readonly ctx: RequestContext
  readonly #parts: VisitParts

  constructor(ctx: RequestContext, parts: VisitParts) {
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
    const { exchange, generation } = this.#parts
    const max = Math.min(MAX_BODY, generation.table.maxBody[exchange.principal?.kind ?? 'live'])
    const bytes = await readBody(this.ctx.req, this.ctx.res, max)
    if (bytes.length < LARGE) return this.#callOf(bytes)
    // Gathering such a body took its time already.
    await othersTurn()
    return this.#callOf(bytes, await membersOfLarge(bytes, this.#parts.workers))
  }

  #callOf(bytes: Buffer, members?: readonly Member[]): ClientCall {
    const { endpoint, exchange, generation } = this.#parts
    const context: CallContext = {
      id: exchange.id,
      endpoint: endpoint.name,
      check: endpoint.check!,
      resolve: (name) => generation.table.resolve(name),
      upstreamHeaders: exchange.upstreamHeaders,
    }
    return new ClientCall(bytes, context, members)
  }
}

/** Lets everybody else have a turn. The first immediate comes before anything more is read; the second, after it. */
async function othersTurn(): Promise<void> {
  await setImmediate()
  await setImmediate()
}
