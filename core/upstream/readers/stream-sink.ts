/** A source of events with backpressure: one attempt's connection, or a link's own reply. */
export interface PausableSource {
  pause(): void
  resume(): void
}

/** Receives the events of a stream. */
export interface EventSink {
  /** True once a meaningful event was pushed. */
  readonly begun: boolean
  /** Adds one event. Until `commit`, another attempt may replace this one. */
  push(frame: string, meaningful: boolean): void
  /** Writes the pushed events in one piece. Call it once per piece of upstream bytes. */
  flush(): void
  /** Completes the stream by the end marker. */
  end(done: string): void
}

/** Relays the streams of a call's attempts to the client, one after the other. */
export interface StreamSink extends EventSink {
  readonly ended: boolean
  /** Writes the rest and ends the reply. Call it when the attempt has ended: what it has cost is noted before the client has the end. */
  finish(): void
  /** Sends the pushed events and all later ones: no other attempt can replace this one. */
  commit(): void
  /**
   * Switches to another source; drops uncommitted events of the previous one. `latin1`: frames are raw bytes. `type`: the content type of what
   * is no stream of events.
   */
  attach(source: PausableSource, encoding: 'latin1' | 'utf8', type?: string): void
}
