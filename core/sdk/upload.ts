/** A request body that is read from a file when it is sent: it may be larger than memory has room for. */
export interface Upload {
  /** In bytes. */
  readonly length: number
  /** Reads it from its start. May be called again, for another attempt. */
  read(): AsyncIterable<Uint8Array>
}
