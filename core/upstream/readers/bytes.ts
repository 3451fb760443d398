import { GatewayError, UpstreamFailure } from '../../errors.ts'
import { UsageReport } from '../../protocol/usage-report.ts'
import type { BodyReader } from './reader.ts'
import type { StreamSink } from './stream-sink.ts'

/** Passes on a reply that is neither JSON nor events, as it comes: sound, or plain text. Its framing tells whether it is complete. */
export class ByteReader implements BodyReader {
  readonly #stream: StreamSink
  readonly #isText: boolean
  #size = 0
  readonly report = new UsageReport({ choices: 1 })

  /** `isText`: the reply is text that the model has written. */
  constructor(stream: StreamSink, isText: boolean) {
    this.#stream = stream
    this.#isText = isText
  }

  data(bytes: Buffer): void {
    this.#size += bytes.length
    if (this.#isText) this.report.wrote(bytes.length)
    this.#stream.push(bytes.toString('latin1'), true)
    this.#stream.flush()
  }

  end(): void {
    if (this.#size === 0) throw new GatewayError('upstream_invalid_response', { cause: new UpstreamFailure('EMPTY_STREAM') })
    this.#stream.end('')
  }
}
