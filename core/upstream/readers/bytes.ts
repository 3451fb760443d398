import { GatewayError, UpstreamFailure } from '../../errors.ts'
import type { ReplyFormat } from '../../protocol/format.ts'
import { UsageReport } from '../../protocol/usage-report.ts'
import type { BodyReader } from './reader.ts'
import type { StreamSink } from './stream-sink.ts'

/** Passes on a reply that is neither JSON nor events, as it comes: sound, or plain text. Its framing tells whether it is complete. */
export class ByteReader implements BodyReader {
  readonly #stream: StreamSink
  readonly #format: Pick<ReplyFormat, 'makes'>
  #size = 0
  readonly report = new UsageReport({ choices: 1 })

  /** `format`: what it makes; else it is text that the model has written. */
  constructor(stream: StreamSink, format: Pick<ReplyFormat, 'makes'>) {
    this.#stream = stream
    this.#format = format
  }

  data(bytes: Buffer): void {
    this.#size += bytes.length
    const { makes } = this.#format
    if (makes === undefined) this.report.wrote(bytes.length)
    else this.report.made(makes)
    this.#stream.push(bytes.toString('latin1'), true)
    this.#stream.flush()
  }

  end(): void {
    if (this.#size === 0) throw new GatewayError('upstream_invalid_response', { cause: new UpstreamFailure('EMPTY_STREAM') })
    this.#stream.end('')
  }
}
