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
 * or unknown encodings throw `upstream_invalid_response`. The sink limits the decoded size.
 */
export function decoding(encoding: string, sink: ByteSink): Decoding {
  const create = DECODERS.get(encoding.trim().toLowerCase())
  if (create === undefined)
    throw new GatewayError('upstream_invalid_response', { cause: new UpstreamFailure('CONTENT_ENCODING') })
  const decoder = create()
  decoder.on('data', (bytes: Buffer) => sink.data(bytes))
  decoder.on('end', () => sink.end())
  decoder.on('error', () =>
    sink.fail(new GatewayError('upstream_invalid_response', { cause: new UpstreamFailure('CONTENT_ENCODING') })),
  )
  return {
    data: (bytes) => void decoder.write(bytes),
    end: () => void decoder.end(),
    pause: () => void decoder.pause(),
    resume: () => void decoder.resume(),
    close: () => void decoder.destroy(),
  }
}
