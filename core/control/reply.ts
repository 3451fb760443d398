import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { Context } from 'koa'
import { GatewayError } from '../errors.ts'
import { storageError } from '../store/unavailable.ts'
import { type Operation, statusOf } from './operation.ts'

/** How often it is checked whether the reader of a stream is still authenticated. */
const CHECK_MS = 15_000

/** The reader of a stream. */
export interface StreamReader {
  isStillAuthenticated(): Promise<boolean>
  /** The stream failed after its head was sent. */
  onError(error: unknown): void
}

/** Sends the result of an operation. */
export function sendResult(ctx: Context, operation: Operation, result: unknown, reader: StreamReader): void {
  ctx.status = statusOf(operation)
  // Koa sends no body with a 204; the empty one tells the error boundary outside that there is a reply.
  ctx.body = result ?? ''
  if (!(result instanceof Readable)) return
  ctx.set('content-type', operation.streams!)
  watchStream(result, ctx.res, reader)
  if (operation.streams !== 'text/event-stream') return
  // The first event may take long: the head is sent now, and asks nginx not to buffer.
  ctx.set('x-accel-buffering', 'no')
  ctx.flushHeaders()
}

/** Destroys the connection when the stream fails, so that no client takes a part for the whole, and when its session has ended. */
function watchStream(stream: Readable, response: ServerResponse, { isStillAuthenticated, onError }: StreamReader): void {
  stream.once('error', (error) => {
    onError(error)
    response.destroy()
  })
  const check = async () => {
    // An unavailable database signs nobody out.
    if (!(await isStillAuthenticated().catch(() => true))) response.destroy()
  }
  const timer = setInterval(check, CHECK_MS).unref()
  response.once('close', () => clearInterval(timer))
}

/** The error to send for what an operation threw. */
export function toGatewayError(thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown
  return storageError(thrown) ?? new GatewayError('internal_error', { cause: thrown })
}
