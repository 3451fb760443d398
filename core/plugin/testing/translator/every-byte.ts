import assert from 'node:assert/strict'
import type { Provider } from '../../api.ts'
import type { Bytes } from '../script.ts'
import type { CollectingSink } from './collecting-sink.ts'
import { assertSame, steady, streamRunner } from './compare.ts'
import { gather } from './gather.ts'
import type { Asked } from './run-translator.ts'

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
