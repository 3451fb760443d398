/** A source of events that can be told to wait: one attempt's connection, or a link's own reply. */
export interface PausableSource {
  pause(): void
  resume(): void
}

/** Takes the events of a stream. */
export interface EventSink {
  /** True once a meaningful event was pushed. */
  readonly begun: boolean
  /** Adds one event. Until `commit`, another attempt may still take the place of this one. */
  push(frame: string, meaningful: boolean): void
  /** Writes what was pushed, in one piece. Call it once per piece of upstream bytes. */
  flush(): void
  /** Ends the stream well: what is left, and the end marker. */
  end(done: string): void
}

/** Where the streams of a call's attempts go, one after the other: the relay to the client. */
export interface StreamSink extends EventSink {
  readonly ended: boolean
  /** What was pushed leaves, and what is pushed from now on: no other attempt can take the place of this one. */
  commit(): void
  /** Takes events from another source; what the source before did not commit is dropped. `latin1`: frames are raw bytes. */
  attach(source: PausableSource, encoding: 'latin1' | 'utf8'): void
}
