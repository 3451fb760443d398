import { isUtf8 } from 'node:buffer'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { GatewayError } from '../errors.ts'
import type { Memory } from '../protocol/call.ts'

/** The limits of a body that is read. */
export interface BodyLimits {
  /** The largest body, in bytes. */
  readonly max: number
  /** Counts the body before it is read, if its length is known; else its chunks. */
  readonly memory: Memory
}

/**
 * Reads a JSON request body into one buffer. Throws GatewayErrors: 415, 413 or 400, what `memory` throws, or 408 if the request is
 * incomplete because it timed out or the client aborted it.
 */
export async function readBody(request: IncomingMessage, response: ServerResponse, limits: BodyLimits): Promise<Buffer> {
  checkHeaders(request)
  checkOpen(request)
  const length = lengthOf(request)
  if (length !== undefined) {
    if (length > limits.max) throw tooLarge(limits.max)
    limits.memory.take(length)
  }
  if (request.headers.expect !== undefined) response.writeContinue()
  // Most arrive with the head. Without a size, Node 26 returns the first chunk only.
  const bytes = request.complete
    ? (request.read(request.readableLength) ?? Buffer.alloc(0))
    : await collect(request, length, limits)
  if (!isUtf8(bytes)) throw new GatewayError('invalid_body', { values: { detail: 'The request body is not valid UTF-8.' } })
  return bytes
}

function checkHeaders(request: IncomingMessage): void {
  const type = request.headers['content-type'] ?? ''
  if (!/^application\/json\s*(?:;\s*charset="?utf-?8"?\s*)?;?$/i.test(type)) throw unsupportedType(request, 'application/json')
  checkEncoding(request)
}

/** The error for a body of another content type than `wanted`. */
export function unsupportedType({ headers }: IncomingMessage, wanted: string): GatewayError {
  const type = (headers['content-type'] ?? '').replace(/[^\x20-\x7e]/g, '').slice(0, 100)
  return new GatewayError('unsupported_media_type', { values: { type, wanted } })
}

/** Throws 415 for a compressed body: its size would be unknown. */
export function checkEncoding({ headers }: IncomingMessage): void {
  const encoding = headers['content-encoding'] ?? 'identity'
  if (encoding.toLowerCase() !== 'identity') {
    throw new GatewayError('unsupported_encoding', { values: { encoding: encoding.replace(/[^\x20-\x7e]/g, '').slice(0, 100) } })
  }
}

/** Throws 408 if the client has left: the rest of its body will not come. */
export function checkOpen({ destroyed }: IncomingMessage): void {
  if (destroyed) throw new GatewayError('request_timeout')
}

/** The length of a body in bytes; undefined if only its end will tell. */
export function lengthOf({ complete, readableLength, headers }: IncomingMessage): number | undefined {
  if (complete) return readableLength
  return headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : undefined
}

function collect(request: IncomingMessage, length: number | undefined, limits: BodyLimits): Promise<Buffer> {
  const body: PartialBody = length === undefined ? new ChunkedBody(limits) : new SizedBody(length)
  return new Promise((resolve, reject) => {
    function onData(chunk: Buffer): void {
      try {
        body.add(chunk)
      } catch (error) {
        stop()
        reject(error)
      }
    }
    function onEnd(): void {
      stop()
      resolve(body.bytes())
    }
    function onError(): void {
      stop()
      reject(new GatewayError('request_timeout'))
    }
    // The request lives as long as its connection, and its listeners hold the body.
    function stop(): void {
      request.off('data', onData).off('end', onEnd).off('error', onError)
    }
    request.on('data', onData).on('end', onEnd).on('error', onError)
  })
}

/** A body that is being read. */
interface PartialBody {
  /** Throws if the body is too large. */
  add(chunk: Buffer): void
  /** The whole body. */
  bytes(): Buffer
}

/** A body of known length: its chunks are copied as they arrive, because copying a large body at once would block the event loop. */
class SizedBody implements PartialBody {
  readonly #length: number
  #bytes: Buffer | undefined
  #at = 0

  constructor(length: number) {
    this.#length = length
  }

  add(chunk: Buffer): void {
    if (chunk.length === this.#length) this.#bytes = chunk
    else {
      this.#bytes ??= Buffer.allocUnsafe(this.#length)
      this.#at += chunk.copy(this.#bytes, this.#at)
    }
  }

  bytes(): Buffer {
    return this.#bytes ?? Buffer.alloc(0)
  }
}

/** A body of unknown length. */
class ChunkedBody implements PartialBody {
  readonly #limits: BodyLimits
  readonly #chunks: Buffer[] = []
  #size = 0

  constructor(limits: BodyLimits) {
    this.#limits = limits
  }

  add(chunk: Buffer): void {
    const { max, memory } = this.#limits
    this.#size += chunk.length
    if (this.#size > max) throw tooLarge(max)
    memory.take(chunk.length)
    this.#chunks.push(chunk)
  }

  bytes(): Buffer {
    return Buffer.concat(this.#chunks, this.#size)
  }
}

/** The error for a body that is larger than `limit` bytes. */
export const tooLarge = (limit: number): GatewayError => new GatewayError('request_too_large', { values: { limit } })

/** Then it is the turn of the next body, in milliseconds: a client may send slowly, or never. */
const TURN_MS = 10

/**
 * Discards the rests of bodies whose requests have been answered, so that their clients can read the replies: one after the other, in
 * turns. Node would discard all at once, up to 2 MB of each in one iteration of the event loop.
 */
export class UnreadBodies {
  readonly #waiting: IncomingMessage[] = []
  #current: IncomingMessage | undefined

  /** Call it for an incomplete request, before its reply ends. */
  discard(request: IncomingMessage): void {
    // Node leaves a body alone that has been read, but read(0) does not count if the buffer is full.
    request.read()
    request.pause()
    this.#waiting.push(request)
    if (this.#current === undefined) this.#next()
  }

  #next(): void {
    const last = this.#current
    if (last !== undefined && !last.complete && !last.destroyed) this.#waiting.push(last.pause())
    this.#current = this.#waiting.shift()?.resume()
    if (this.#current !== undefined) setTimeout(() => this.#next(), TURN_MS).unref()
  }
}
