import { readWire } from '../../core/testing/conformance/expect-reply.ts'

/** Reads the chunks of a whole stream, for a call that asked for usage, as clients do. Throws an `AssertionError` where they could not. */
export function readChunks(chunks: readonly object[]): void {
  const events = [...chunks.map((chunk) => JSON.stringify(chunk)), '[DONE]'].map((data) => `data: ${data}\n\n`)
  readWire(events.join(''), true)
}
