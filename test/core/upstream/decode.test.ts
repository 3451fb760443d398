import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { brotliCompressSync, constants, createGzip, deflateSync, gzipSync } from 'node:zlib'
import { expect } from 'chai'
import { GatewayError } from '../../../core/errors.ts'
import { type Decoding, decoding } from '../../../core/upstream/decode.ts'

/** Gathers what comes out. */
class Sink {
  readonly pieces: Buffer[] = []
  readonly #over = Promise.withResolvers<GatewayError | undefined>()
  onData = (): void => undefined

  /** How it ended: undefined where it did well. */
  get over(): Promise<GatewayError | undefined> {
    return this.#over.promise
  }

  get text(): string {
    return Buffer.concat(this.pieces).toString()
  }

  get size(): number {
    return this.pieces.reduce((sum, piece) => sum + piece.length, 0)
  }

  data(bytes: Buffer): void {
    this.pieces.push(bytes)
    this.onData()
  }

  end(): void {
    this.#over.resolve(undefined)
  }

  fail(error: GatewayError): void {
    this.#over.resolve(error)
  }
}

const TEXT = 'Grüß dich 🌍 '.repeat(100)

function feed(decoder: Decoding, bytes: Buffer, size: number): void {
  for (let at = 0; at < bytes.length; at += size) decoder.data(bytes.subarray(at, at + size))
  decoder.end()
}

describe('a compressed body of an upstream', () => {
  const ENCODED: Readonly<Record<string, Buffer>> = {
    gzip: gzipSync(TEXT),
    'x-gzip': gzipSync(TEXT),
    ' GZIP ': gzipSync(TEXT),
    deflate: deflateSync(TEXT),
    br: brotliCompressSync(TEXT),
  }

  for (const [encoding, bytes] of Object.entries(ENCODED)) {
    it(`is decoded, whole or byte by byte: ${encoding}`, async () => {
      for (const size of [bytes.length, 1]) {
        const sink = new Sink()
        feed(decoding(encoding, sink), bytes, size)
        expect(await sink.over).to.equal(undefined)
        expect(sink.text).to.equal(TEXT)
      }
    })
  }

  for (const encoding of [
    'gzip, gzip',
    'gzip, br',
    'identity, gzip',
    'zstd',
    'compress',
    '',
    'constructor',
    '__proto__',
    'toString',
  ]) {
    it(`has an unknown encoding: “${encoding}”`, () => {
      expect(() => decoding(encoding, new Sink()))
        .to.throw(GatewayError)
        .with.property('row', 'upstream_invalid_response')
    })
  }

  for (const [fault, bytes] of [
    ['is cut', gzipSync(TEXT).subarray(0, -1)],
    ['is empty', Buffer.alloc(0)],
    ['is none', Buffer.from(TEXT)],
    ['is damaged', Buffer.concat([gzipSync(TEXT).subarray(0, 20), Buffer.alloc(40, 0xff)])],
  ] as const) {
    it(`${fault} is an error`, async () => {
      const sink = new Sink()
      feed(decoding('gzip', sink), bytes, 16)
      expect(await sink.over).to.have.property('row', 'upstream_invalid_response')
    })
  }

  it('of a stream is decoded event by event, not at its end', async () => {
    const gzip = createGzip({ flush: constants.Z_SYNC_FLUSH })
    const sink = new Sink()
    const decoder = decoding('gzip', sink)
    gzip.on('data', (bytes: Buffer) => decoder.data(bytes))
    for (const event of ['one', 'two', 'three']) {
      const came = new Promise<void>((resolve) => {
        sink.onData = resolve
      })
      gzip.write(`data: ${event}\n\n`)
      await came
      expect(sink.text.endsWith(`data: ${event}\n\n`)).to.equal(true)
    }
    gzip.end()
    await once(gzip, 'end')
    decoder.end()
    expect(await sink.over).to.equal(undefined)
  })

  it('is not decoded while it is paused', async () => {
    const sink = new Sink()
    const decoder = decoding('gzip', sink)
    sink.onData = () => decoder.pause()
    feed(decoder, gzipSync(randomBytes(4 << 20)), 1024)
    await decodedElsewhere()
    expect(sink.pieces).to.have.length(1)
    sink.onData = () => undefined
    decoder.resume()
    await sink.over
    expect(sink.size).to.equal(4 << 20)
  })

  it('that is a bomb is not decoded after it is closed', async () => {
    const sink = new Sink()
    const decoder = decoding('gzip', sink)
    sink.onData = () => decoder.close()
    feed(decoder, gzipSync(Buffer.alloc(64 << 20)), 1024)
    await decodedElsewhere()
    expect(sink.pieces).to.have.length(1)
  })

  /** Passes as much time as another decoder takes for 4 MB. */
  async function decodedElsewhere(): Promise<void> {
    const clock = new Sink()
    feed(decoding('gzip', clock), gzipSync(Buffer.alloc(4 << 20)), 1024)
    await clock.over
  }
})
