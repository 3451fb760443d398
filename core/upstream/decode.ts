import type { Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { GatewayError, UpstreamFailure } from '../errors.ts'

/** Receives the decoded bytes. */
export interface ByteSink {
  data(bytes: Buffer): void
  end(): void
  fail(error: GatewayError): void
}

const DECODERS: ReadonlyMap<string, () => Transform> = new Map([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
])

/**
 * How many times its size a body may decode to, beyond its first mebibyte. The most repetitive JSON of real replies, such as events of one
 * letter each, stays below 100; deflate reaches 1,032, and Brotli many thousands.
 */
const MAX_RATIO = 200
const FREE_BYTES = 1 << 20

/** Decodes one body into its sink. Input is fast, output may be slow: hence the backpressure. */
export interface Decoding {
  data(bytes: Buffer): void
  end(): void
  pause(): void
  resume(): void
  /** Stops output to the sink: input already accepted may decode to a thousand times its size. */
  close(): void
}

/**
 * Decodes one layer of content encoding, for upstreams that compress although the request accepts only `identity`. Stacked
 * or unknown encodings throw `upstream_invalid_response`, and so ends a body that decodes to `MAX_RATIO` times its size. The sink limits
 * the decoded size itself.
 */
export function decoding(encoding: string, sink: ByteSink): Decoding {
  const create = DECODERS.get(encoding.trim().toLowerCase())
  if (create === undefined)
    throw new GatewayError('upstream_invalid_response', { cause: new UpstreamFailure('CONTENT_ENCODING') })
  const decoder = create()
  const fail = (): void =>
    sink.fail(new GatewayError('upstream_invalid_response', { cause: new UpstreamFailure('CONTENT_ENCODING') }))
  let encoded = 0
  let decoded = 0
  decoder.on('data', (bytes: Buffer) => {
    decoded += bytes.length
    if (decoded > FREE_BYTES + encoded * MAX_RATIO) fail()
    else sink.data(bytes)
  })
  decoder.on('end', () => sink.end())
  decoder.on('error', fail)
  return {
    data(bytes) {
      encoded += bytes.length
      decoder.write(bytes)
    },
    end: () => void decoder.end(),
    pause: () => void decoder.pause(),
    resume: () => void decoder.resume(),
    close: () => void decoder.destroy(),
  }
}
