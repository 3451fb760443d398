import type { GatewayError } from '../../errors.ts'
import type { ChatChunk, Usage } from '../../sdk/api.ts'
import type { EventSink } from '../../upstream/readers/stream-sink.ts'

/** An `EventSink` that keeps the events instead of sending them to a client. */
export class CollectingSink implements EventSink {
  readonly #encoding: 'latin1' | 'utf8'
  #frames = ''
  begun = false
  ended = false
  /** The stream's error, if it failed. Set, like `usage`, by the function that fills the sink. */
  failure: GatewayError | undefined
  usage: Usage | undefined

  /** `latin1`: events are raw bytes, as in a stream without a translator. */
  constructor(encoding: 'latin1' | 'utf8') {
    this.#encoding = encoding
  }

  /** The events as the client reads them. */
  get text(): string {
    return this.#encoding === 'utf8' ? this.#frames : Buffer.from(this.#frames, 'latin1').toString()
  }

  get chunks(): ChatChunk[] {
    const frames = this.text.split('\n\n').slice(0, -1)
    return frames.map((frame) => JSON.parse(frame.slice('data: '.length)))
  }

  push(frame: string, meaningful: boolean): void {
    this.#frames += frame
    this.begun ||= meaningful
  }

  flush(): void {}

  end(): void {
    this.ended = true
  }
}
