import { isUtf8 } from 'node:buffer'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ParameterizedContext } from 'koa'
import { GatewayError } from '../errors.ts'
import { ContractViolation } from '../plugins/faults.ts'
import { type BodyScanner, type CallContext, ClientCall, LARGE, type Memory, releaseBody, scanLarge } from '../protocol/call.ts'
import type { RequestCheck } from '../protocol/validation.ts'
import type { RoutingTable } from '../routing/table.ts'
import type { EndpointName, Principal } from '../sdk/api.ts'
import type { Admission, CallMemory } from './admission.ts'

/** The services that read bodies. */
export interface BodyServices {
  readonly admission: Admission
  readonly scanner: BodyScanner
}

/** A call whose body is read. */
export interface BodyOwner {
  readonly id: string
  readonly endpoint: { readonly name: EndpointName; readonly check: RequestCheck | 'no body' } | undefined
  readonly generation: { readonly table: RoutingTable } | undefined
  /** Set by the time the body is read, if a link sets it. */
  readonly principal: Principal | undefined
  readonly upstreamHeaders: Readonly<Record<string, string>>
}

/** The body of a request to an endpoint of `/v1`, from its first use to the end of the call. */
export class CallBody {
  readonly #owner: BodyOwner
  readonly #ctx: Pick<ParameterizedContext, 'req' | 'res'>
  readonly #services: BodyServices
  #reading: Promise<ClientCall> | undefined
  #context: CallContext | undefined
  #memory: CallMemory | undefined
  #readingSince: number | undefined
  #readAt: number | undefined
  #isReleased = false
  /** Undefined until it is read. */
  call: ClientCall | undefined

  constructor(owner: BodyOwner, ctx: Pick<ParameterizedContext, 'req' | 'res'>, services: BodyServices) {
    this.#owner = owner
    this.#ctx = ctx
    this.#services = services
  }

  /**
   * Reads and checks the body, on the first call. Throws the errors of `readBody`, 503 if there is no room for it, and 400 if it is not an
   * acceptable object.
   */
  read(): Promise<ClientCall> {
    this.#reading ??= this.#read()
    return this.#reading
  }

  /** From now on the body cannot be edited. */
  decide(): void {
    if (this.#context !== undefined) this.#context.decided = true
  }

  /** Milliseconds between two monotonic times in which the body was being read: that time depends on the client. */
  readingMs(from: number, to: number): number {
    if (this.#readingSince === undefined) return 0
    return Math.max(0, Math.min(to, this.#readAt ?? to) - Math.max(from, this.#readingSince))
  }

  /** Frees the body, as soon as it is no longer being read. */
  release(): void {
    this.#isReleased = true
    if (this.#readingSince === undefined || this.#readAt !== undefined) this.#free()
  }

  async #read(): Promise<ClientCall> {
    const { id, endpoint, generation, principal, upstreamHeaders } = this.#owner
    if (endpoint === undefined || endpoint.check === 'no body') throw new ContractViolation('NO_BODY')
    const { table } = generation!
    const { admission, scanner } = this.#services
    const { name, check } = endpoint
    const memory = admission.memoryFor(principal?.keyId ?? '')
    const resolve: CallContext['resolve'] = (model) => table.resolve(model)
    const context: CallContext = { id, endpoint: name, check, resolve, upstreamHeaders, memory, decided: false }
    this.#memory = memory
    this.#context = context
    this.#readingSince = performance.now()
    try {
      const max = Math.min(admission.largestBody, table.maxBody[principal?.kind ?? 'live'])
      const bytes = await readBody(this.#ctx.req, this.#ctx.res, { max, memory })
      const scanned = bytes.length > LARGE.bytes ? await scanLarge(bytes, scanner) : undefined
      this.call = new ClientCall(bytes, context, scanned)
      return this.call
    } finally {
      this.#readAt = performance.now()
      if (this.#isReleased) this.#free()
    }
  }

  #free(): void {
    if (this.call !== undefined) releaseBody(this.call)
    this.#memory?.release()
  }
}

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
  const length = lengthOf(request)
  if (length !== undefined) {
    if (length > limits.max) throw tooLarge(limits.max)
    limits.memory.take(length)
  }
  if (request.headers.expect !== undefined) response.writeContinue()
  // Most arrive with the head.
  const bytes = request.complete ? (request.read() ?? Buffer.alloc(0)) : await collect(request, length, limits)
  if (!isUtf8(bytes)) throw new GatewayError('invalid_body', { values: { detail: 'The request body is not valid UTF-8.' } })
  return bytes
}

function checkHeaders({ headers }: IncomingMessage): void {
  const type = headers['content-type'] ?? ''
  if (!/^application\/json\s*(?:;\s*charset="?utf-?8"?\s*)?;?$/i.test(type)) {
    throw new GatewayError('unsupported_media_type', { values: { type: type.replace(/[^\x20-\x7e]/g, '').slice(0, 100) } })
  }
  const encoding = headers['content-encoding'] ?? 'identity'
  if (encoding.toLowerCase() !== 'identity') {
    throw new GatewayError('unsupported_encoding', { values: { encoding: encoding.replace(/[^\x20-\x7e]/g, '').slice(0, 100) } })
  }
}

/** In bytes; undefined if only the end of the body will tell. */
function lengthOf({ complete, readableLength, headers }: IncomingMessage): number | undefined {
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

const tooLarge = (limit: number): GatewayError => new GatewayError('request_too_large', { values: { limit } })
