import assert from 'node:assert/strict'
import { type ChatChunk, type ChunkChoice, FINISH_REASONS, type ToolCallDelta } from '../../api.ts'

const DONE = 'data: [DONE]'

/**
 * Reads a stream as it stands on the wire to a client. Throws an `AssertionError` where it is not what clients count on
 * (openai-openapi, `CreateChatCompletionStreamResponse`).
 */
export function readWire(text: string, includeUsage: boolean): ChatChunk[] {
  assert.ok(text.endsWith(`${DONE}\n\n`), `a stream ends with ${DONE}, but this one ends with ${JSON.stringify(text.slice(-80))}`)
  const frames = text.split('\n\n').slice(0, -2)
  // A comment keeps a connection open, and clients pass over it.
  const chunks = frames.filter((frame) => !frame.startsWith(':')).map(readFrame)
  expectHeads(chunks)
  expectUsageChunk(chunks, includeUsage)
  const byChoice = Map.groupBy(
    chunks.flatMap(({ choices }) => choices),
    ({ index }) => index,
  )
  for (const choices of byChoice.values()) expectChoice(choices)
  return chunks
}

function readFrame(frame: string): ChatChunk {
  assert.match(frame, /^data: \{[^\n]*\}$/, 'an event is one line of JSON')
  return JSON.parse(frame.slice('data: '.length))
}

function expectHeads(chunks: readonly ChatChunk[]): void {
  assert.ok(chunks.length > 0, 'a stream has chunks')
  const first = chunks[0]!
  assert.ok(typeof first.id === 'string' && first.id !== '', 'a chunk has an id')
  assert.ok(Number.isSafeInteger(first.created), 'a chunk says when it was created, in whole seconds')
  for (const { id, object, created, model } of chunks) {
    const head = { id: first.id, object: 'chat.completion.chunk', created: first.created, model: first.model }
    assert.deepEqual({ id, object, created, model }, head, 'id, created and model are those of the first chunk')
  }
}

function expectUsageChunk(chunks: readonly ChatChunk[], includeUsage: boolean): void {
  const telling = chunks.filter(({ usage }) => usage != null)
  if (!includeUsage) {
    assert.deepEqual(telling, [], 'usage is told only where it is asked for')
    return
  }
  // Where the upstream does not say it, nobody can.
  if (telling.length === 0) return
  assert.deepEqual(telling, chunks.slice(-1), 'usage is told once, by the last chunk')
  assert.deepEqual(telling[0]?.choices, [], 'the chunk that tells the usage has no choices')
}

function expectChoice(choices: readonly ChunkChoice[]): void {
  for (const { delta, finish_reason } of choices) {
    assert.ok(typeof delta === 'object' && delta !== null, 'a choice has a delta')
    assert.ok(finish_reason === null || FINISH_REASONS.includes(finish_reason), `${finish_reason} is no finish that clients know`)
  }
  const roles = choices.map(({ delta }) => delta.role)
  assert.deepEqual(roles.filter(Boolean), ['assistant'], 'the role comes once')
  assert.equal(roles[0], 'assistant', 'the role comes first')
  const finishes = choices.map(({ finish_reason }) => finish_reason)
  assert.equal(finishes.filter((finish) => finish !== null).length, 1, 'a choice finishes once')
  assert.ok(finishes.at(-1), 'nothing comes after the finish')
  expectTools(choices.flatMap(({ delta }) => delta.tool_calls ?? []))
}

function expectTools(parts: readonly ToolCallDelta[]): void {
  const byIndex = Map.groupBy(parts, ({ index }) => index)
  assert.deepEqual([...byIndex.keys()], [...byIndex.keys()].keys().toArray(), 'tool calls are numbered from 0, as they appear')
  for (const [first, ...later] of byIndex.values()) {
    assert.ok(first?.id && first.function?.name, 'the first part of a tool call has its id and its name')
    assert.equal(first.type, 'function', 'the first part of a tool call has its type')
    for (const { id, type, function: called } of later) {
      assert.deepEqual([id, type, called?.name], [undefined, undefined, undefined], 'clients would double an id that came twice')
    }
    const text = [first, ...later].map((part) => part.function?.arguments ?? '').join('')
    assert.doesNotThrow(() => JSON.parse(text), `the arguments of a tool call join to JSON: ${text}`)
  }
}
