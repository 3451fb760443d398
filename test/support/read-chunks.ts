import { readWire } from '../../core/testing/conformance/expect-reply.ts'

/** Validates the chunks of a whole stream with usage, by the rules that clients rely on. Throws an `AssertionError`. */
export function readChunks(chunks: readonly object[]): void {
  const events = [...chunks.map((chunk) => JSON.stringify(chunk)), '[DONE]'].map((data) => `data: ${data}\n\n`)
  readWire(events.join(''), true)
}
