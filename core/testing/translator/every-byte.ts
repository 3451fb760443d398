import assert from 'node:assert/strict'
import type { ChatChunk, Provider } from '../../sdk/api.ts'
import { testAttempt, testCall } from '../doubles.ts'
import type { Bytes } from '../script.ts'
import type { CollectingSink } from './collecting-sink.ts'
import { gather } from './gather.ts'
import { type Asked, runStream } from './run-translator.ts'

/**
 * Gives a provider a stream in two pieces, split at every byte, and then byte by byte. Throws an `AssertionError` for the first split
 * that changes what the client gets.
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
 * Gives a provider a stream that ends at every byte. Throws an `AssertionError` for the first end that reads as a whole reply though
 * something of it is missing; usage alone may be.
 */
export function cutAtEveryByte(provider: Provider, stream: Bytes, asked?: Asked): void {
  const bytes = Buffer.from(stream)
  const run = streamRunner(provider, asked)
  const whole = run([bytes])
  assert.ok(whole.ended, `the stream must be whole where it is not cut: ${whole.failure?.message}`)
  for (let end = 0; end < bytes.length; end++) {
    const cut = run([bytes.subarray(0, end)])
    assert.equal(cut.ended, cut.failure === undefined, `cut at byte ${end}, a stream ends by [DONE] or by an error`)
    if (cut.ended) assert.deepEqual(told(cut), told(whole), `cut at byte ${end}, the stream reads as a whole reply`)
  }
}

const told = (sink: CollectingSink) => gather(steady(sink).chunks).choices

/** Runs streams through a provider's translators, again and again, for a call that asks for usage. */
export function streamRunner(provider: Provider, asked: Asked = {}): (pieces: readonly Bytes[]) => CollectingSink {
  const call = testCall({ stream: true, stream_options: { include_usage: true }, ...asked })
  const attempt = testAttempt(call)
  return (pieces) => runStream({ call, translator: provider.translator?.(call, attempt) }, pieces)
}

/** Throws an `AssertionError` where two streams are not the same to a client; `how` the other came about begins its message. */
export function assertSame(other: CollectingSink, stream: CollectingSink, how: string): void {
  // Nearly always: where it is not so, a clock or chance may have made the difference.
  if (other.text === stream.text && other.ended === stream.ended) return
  assert.deepEqual(steady(other), steady(stream), `${how}, the stream is another one`)
}

/** Without what a clock and chance have made. */
export function steady({ chunks, ended, failure }: CollectingSink) {
  const ids = new Map<string, string>()
  const steadied = (id: string): string => {
    if (!ids.has(id)) ids.set(id, `id-${ids.size}`)
    return ids.get(id)!
  }
  for (const chunk of chunks) steadyChunk(chunk, steadied)
  return { chunks, ended, failure: failure?.message }
}

function steadyChunk(chunk: ChatChunk, steadied: (id: string) => string): void {
  chunk.id = steadied(chunk.id)
  chunk.created = 0
  for (const { delta } of chunk.choices) for (const call of delta.tool_calls ?? []) if (call.id) call.id = steadied(call.id)
}
