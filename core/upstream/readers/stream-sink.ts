/** A source of events that can be told to wait: one attempt's connection, or a link's own reply. */
export interface PausableSource {
  pause(): void
  resume(): void
}

/** Takes the events of a stream. */
export interface EventSink {
  /** True once the stream can no longer be replaced by another attempt's. */
  readonly committed: boolean
  /** Adds one event. The first meaningful one commits. */
  push(frame: string, meaningful: boolean): void
  /** Writes what was pushed, in one piece. Call it once per piece of upstream bytes. */
  flush(): void
  /** Ends the stream well: what is left, and the end marker. */
  end(done: string): void
}

/** Where the streams of a call's attempts go, one after the other: the relay to the client. */
export interface StreamSink extends EventSink {
  /** True once bytes of an event have left for the client. */
  readonly started: boolean
  readonly ended: boolean
  /** Takes events from another source; what the source before left unsent is dropped. `latin1`: frames are raw bytes. */
  attach(source: PausableSource, encoding: 'latin1' | 'utf8'): void
}
