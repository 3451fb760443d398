import { GatewayError } from '../../errors.ts'
import type { Generation } from '../../generation.ts'
import type { CallMetrics } from '../../observe/call-metrics.ts'
import type { EndpointName } from '../../plugin/api.ts'
import { Dispatch, type Shipment } from '../../routing/dispatch.ts'
import type { UpstreamClient } from '../../upstream/client.ts'
import type { ReplyFormat } from '../../upstream/endpoint.ts'
import { Relay, type RelayTimes } from '../../upstream/relay.ts'
import type { RequestCheck } from '../check.ts'
import type { Exchange } from '../exchange.ts'

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
