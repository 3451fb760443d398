import type { Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { GatewayError, UpstreamFailure } from '../errors.ts'

/** What takes the plain bytes. */
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

/** An encoded body on its way to its sink. Taking in is quick, giving out may take a while: hence the brakes. */
export interface Decoding {
  data(bytes: Buffer): void
  end(): void
  pause(): void
  resume(): void
  /** Nothing more reaches the sink: what was taken in already may stand for a thousand times as much. */
  close(): void
}

/**
 * Undoes one layer of content encoding, for upstreams that compress although `identity` was asked for. Stacked or unknown
 * encodings throw `upstream_invalid_response`. How much may come out is the sink's to bound.
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
