import type { ServerResponse } from 'node:http'
import { GatewayError } from '../errors.ts'
import type { Exchange } from './exchange.ts'

/** Up to this size a body goes out as one latin1 string, in one write with its head. */
const ONE_WRITE = 16 * 1024

/** Sends what the call came to: a stream, a whole reply, or an error. */
export function respond(exchange: Exchange, response: ServerResponse): void {
  if (exchange.closed) return
  if (exchange.dropped.length > 0) response.setHeader('x-umg-params-dropped', exchange.dropped.join(', '))
  if (exchange.failure !== undefined) sendError(exchange.failure, response)
  else if (exchange.stream !== undefined) openStream(exchange, response)
  else if (exchange.body !== undefined) sendJson(200, exchange.body, response)
  else sendError(new GatewayError('internal_error', { cause: new Error('no reply') }), response)
}

/** Sends an error in OpenAI's shape. The request id is a header, never part of the body. */
export function sendError(error: GatewayError, response: ServerResponse): void {
  for (const name in error.headers) response.setHeader(name, error.headers[name]!)
  sendJson(error.status, Buffer.from(JSON.stringify(error)), response)
}

function sendJson(status: number, body: Buffer, response: ServerResponse): void {
  response.statusCode = status
  response.setHeader('content-type', 'application/json')
  response.setHeader('content-length', body.length)
  if (response.req.method === 'HEAD') response.end()
  else if (body.length <= ONE_WRITE) response.end(body.toString('latin1'), 'latin1')
  else response.end(body)
}

function openStream(exchange: Exchange, response: ServerResponse): void {
  response.statusCode = 200
  response.setHeader('content-type', 'text/event-stream; charset=utf-8')
  response.setHeader('cache-control', 'no-cache, no-transform')
  response.setHeader('x-accel-buffering', 'no')
  exchange.stream!.open(response)
}
