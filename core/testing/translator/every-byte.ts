import assert from 'node:assert/strict'
import type { ChatChunk, Provider } from '../../sdk/api.ts'
import { testAttempt, testCall } from '../gateway/doubles.ts'
import type { Bytes } from '../upstream/script.ts'
import type { CollectingSink } from './collecting-sink.ts'
import { gather } from './gather.ts'
import { type Asked, runStream } from './run-translator.ts'

/**
 * Reads a stream with a provider's translator in two pieces, split at every byte, and then byte by byte. Throws an `AssertionError`
 * for the first split that changes the client's reply.
 */
export function splitAtEveryByte(provider: Provider, stream: Bytes, asked?: Asked): void {
  const bytes = Buffer.from(stream)
  const run = streamRunner(provider, asked)
  const whole = run([bytes])
  for (let at = 1; at < bytes.length; at++) {
    assertSame(run([bytes.subarray(0, at), bytes.subarray(at)]), whole, `split at byte ${at}`)
  }
  assertSame(run(Array.from(bytes, (byte) => Buffer.of(byte))), whole, 'byte by byte')
}

/**
 * Reads a stream with a provider's translator, cut at every byte. Throws an `AssertionError` for the first cut that gives the client a
 * complete reply with content missing; only usage may be missing.
 */
export function cutAtEveryByte(provider: Provider, stream: Bytes, asked?: Asked): void {
  const bytes = Buffer.from(stream)
  const run = streamRunner(provider, asked)
  const whole = run([bytes])
  assert.ok(whole.ended, `the uncut stream is not complete: ${whole.failure?.message}`)
  for (let end = 0; end < bytes.length; end++) {
    const cut = run([bytes.subarray(0, end)])
    assert.equal(
      cut.ended,
      cut.failure === undefined,
      `cut at byte ${end}, the stream ends with both or neither of [DONE] and an error`,
    )
    if (cut.ended) assert.deepEqual(choicesOf(cut), choicesOf(whole), `cut at byte ${end}, the stream reads as a complete reply`)
  }
}

const choicesOf = (sink: CollectingSink) => gather(normalised(sink).chunks).choices

/** Returns a function that reads one stream with a new translator of the provider, for a call that requests usage. */
export function streamRunner(provider: Provider, asked: Asked = {}): (pieces: readonly Bytes[]) => CollectingSink {
  const call = testCall({ stream: true, stream_options: { include_usage: true }, ...asked })
  const attempt = testAttempt(call)
  return (pieces) => runStream({ call, translator: provider.translator?.(call, attempt) }, pieces)
}

/** Throws an `AssertionError` if two streams differ for a client. `how` describes the other stream in its message. */
export function assertSame(other: CollectingSink, stream: CollectingSink, how: string): void {
  // The fast path. Streams that differ may still do so only in random ids and times.
  if (other.text === stream.text && other.ended === stream.ended) return
  assert.deepEqual(normalised(other), normalised(stream), `${how}, the stream differs`)
}

/** A stream with its random ids numbered and its times removed. */
function normalised({ chunks, ended, failure }: CollectingSink) {
  const ids = new Map<string, string>()
  const numbered = (id: string): string => {
    if (!ids.has(id)) ids.set(id, `id-${ids.size}`)
    return ids.get(id)!
  }
  for (const chunk of chunks) normaliseChunk(chunk, numbered)
  return { chunks, ended, failure: failure?.message }
}

function normaliseChunk(chunk: ChatChunk, numbered: (id: string) => string): void {
  chunk.id = numbered(chunk.id)
  chunk.created = 0
  for (const { delta } of chunk.choices) for (const call of delta.tool_calls ?? []) if (call.id) call.id = numbered(call.id)
}
