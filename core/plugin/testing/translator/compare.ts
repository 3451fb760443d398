import assert from 'node:assert/strict'
import type { ChatChunk, Provider } from '../../api.ts'
import type { Bytes } from '../script.ts'
import { testAttempt, testCall } from '../test-call.ts'
import type { CollectingSink } from './collecting-sink.ts'
import { runStream } from './run-stream.ts'
import type { Asked } from './run-translator.ts'

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
