import { isUtf8 } from 'node:buffer'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import type { ParameterizedContext } from 'koa'
import { GatewayError } from '../errors.ts'
import { type BodyScanner, type CallContext, ClientCall, membersOfLarge } from '../protocol/call.ts'

/** The largest body of a call, in bytes. */
const MAX_BODY = 32 << 20

/**
 * Reads a JSON request body of at most `max` bytes into one buffer. Throws GatewayErrors: 415, 413 or 400, or 408 if the request is
 * incomplete because it timed out or the client aborted it.
 */
export async function readBody(request: IncomingMessage, response: ServerResponse, max: number): Promise<Buffer> {
  checkHeaders(request, max)
  if (request.headers.expect !== undefined) response.writeContinue()
  const bytes = request.complete ? whole(request, max) : await collect(request, max)
  if (!isUtf8(bytes)) throw new GatewayError('invalid_body', { values: { detail: 'The request body is not valid UTF-8.' } })
  return bytes
}

function checkHeaders(request: IncomingMessage, max: number): void {
  const type = request.headers['content-type'] ?? ''
  if (!/^application\/json\s*(?:;\s*charset="?utf-?8"?\s*)?;?$/i.test(type)) {
    throw new GatewayError('unsupported_media_type', { values: { type: type.replace(/[^\x20-\x7e]/g, '').slice(0, 100) } })
  }
  const encoding = request.headers['content-encoding'] ?? 'identity'
  if (encoding.toLowerCase() !== 'identity') {
    throw new GatewayError('unsupported_encoding', { values: { encoding: encoding.replace(/[^\x20-\x7e]/g, '').slice(0, 100) } })
  }
  if (Number(request.headers['content-length'] ?? 0) > max) throw tooLarge(max)
}

/** Reads a body that arrived with the head, as most do. */
function whole(request: IncomingMessage, max: number): Buffer {
  if (request.readableLength > max) throw tooLarge(max)
  return request.read() ?? Buffer.alloc(0)
}

function collect(request: IncomingMessage, max: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size <= max) chunks.push(chunk)
      else {
        request.removeAllListeners('data')
        request.resume()
        reject(tooLarge(max))
      }
    })
    request.on('end', () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size)))
    request.on('error', () => reject(new GatewayError('request_timeout')))
  })
}

const tooLarge = (limit: number): GatewayError => new GatewayError('request_too_large', { values: { limit } })

/** From this size on, in bytes, a thread scans the body: it would block the event loop for milliseconds. */
const LARGE = 4 << 20

/** Reads requests of `/v1` as calls. */
export class CallReader {
  readonly #scanner: BodyScanner

  constructor(scanner: BodyScanner) {
    this.#scanner = scanner
  }

  /** `most`: the upstreams' body limit, in bytes. Throws the errors of `readBody`, and 400 if the body is no acceptable object. */
  async read(ctx: Pick<ParameterizedContext, 'req' | 'res'>, context: CallContext, most: number): Promise<ClientCall> {
    const bytes = await readBody(ctx.req, ctx.res, Math.min(MAX_BODY, most))
    if (bytes.length < LARGE) return new ClientCall(bytes, context)
    // Collecting a large body has taken long: other work runs before and after the next read.
    await setImmediate()
    await setImmediate()
    return new ClientCall(bytes, context, await membersOfLarge(bytes, this.#scanner))
  }
}
