import type { GatewayError } from '../../errors.ts'
import type { ChatChunk, Usage } from '../../sdk/api.ts'
import type { EventSink } from '../../upstream/readers/stream-sink.ts'

/** Stands where the relay to a client stands, and keeps what it is given. */
export class CollectingSink implements EventSink {
  readonly #encoding: 'latin1' | 'utf8'
  #frames = ''
  begun = false
  ended = false
  /** Why the stream did not end well, and what it used: set by whoever fills the sink. */
  failure: GatewayError | undefined
  usage: Usage | undefined

  /** `latin1`: events are raw bytes, as of a stream that is passed through. */
  constructor(encoding: 'latin1' | 'utf8') {
    this.#encoding = encoding
  }

  /** The events as a client reads them. */
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
