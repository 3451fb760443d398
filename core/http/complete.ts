import { setImmediate } from 'node:timers/promises'
import { GatewayError } from '../errors.ts'
import type { Generation } from '../gateway/generation.ts'
import type { CallMetrics } from '../observe/call-metrics.ts'
import { type CallContext, ClientCall, membersOfLarge } from '../protocol/call.ts'
import type { ReplyFormat } from '../protocol/format.ts'
import type { Member } from '../protocol/json.ts'
import type { RequestCheck } from '../protocol/validation.ts'
import { Dispatch, type Shipment } from '../routing/dispatch.ts'
import type { EndpointName } from '../sdk/api.ts'
import type { UpstreamClient } from '../upstream/client.ts'
import type { Workers } from '../workers/pool.ts'
import { readBody } from './body.ts'
import type { Passage, CallContext as RequestContext } from './chain.ts'
import type { Arrival, Exchange } from './exchange.ts'
import { takeOwnReply } from './link-reply.ts'
import { Relay, type RelayTimes } from './relay.ts'

/** An endpoint that a model answers: all that tells it from others. */
export interface ModelEndpoint {
  readonly name: EndpointName
  readonly path: string
  /** Checks the body. */
  readonly check: RequestCheck
  /** How its replies look on the wire. */
  readonly reply: ReplyFormat
}

/** What serving calls takes, beside the generation. */
export interface CallServices {
  readonly calls: CallMetrics
  readonly upstreams: UpstreamClient
  readonly relayTimes: RelayTimes
}

/**
 * Serves one call behind the chain: authorises its model, and resolves when its head may go out, which for a stream may be long
 * before its end.
 */
export async function complete(
  exchange: Exchange,
  generation: Generation,
  format: ReplyFormat,
  services: CallServices,
): Promise<void> {
  const { principal } = exchange
  if (principal === undefined) throw new GatewayError('missing_api_key')
  const call = await exchange.call()
  exchange.seal()
  const route = generation.table.route(call.model, principal)
  exchange.onEnd = services.calls.started(call.model.namespace)
  if (exchange.closed) return
  const traveller = { key: principal.keyId, random: Math.random }
  const shipment: Shipment = { call, route, traveller, format, client: services.upstreams }
  if (call.stream) await stream(exchange, shipment, services.relayTimes)
  else exchange.body = await send(exchange, shipment)
}

function send(exchange: Exchange, shipment: Shipment): Promise<Buffer | undefined> {
  const dispatch = new Dispatch(shipment, exchange)
  exchange.sent(dispatch)
  return dispatch.run()
}

function stream(exchange: Exchange, shipment: Shipment, times: RelayTimes): Promise<void> {
  return new Promise((resolve, reject) => {
    exchange.relay = new Relay(times, { onHead: resolve, onFirstByte: () => exchange.onFirstByte() })
    send(exchange, shipment).then(
      () => resolve(),
      (error: GatewayError) => {
        // A heartbeat may have opened the head already: then it is an error frame, and nobody waits for this promise.
        exchange.onBroken(error)
        reject(error)
      },
    )
  })
}

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
    const bytes = await readBody(this.ctx.req, this.ctx.res)
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
