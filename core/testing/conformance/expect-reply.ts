import assert from 'node:assert/strict'
import { type ChatChunk, type ChatCompletion, type ChunkChoice, FINISH_REASONS, type ToolCallDelta } from '../../sdk/api.ts'
import { finishOf, type Said } from '../said.ts'
import type { Gathered } from '../translator/gather.ts'

/** What a client has read of a reply. */
interface Read {
  readonly text: string
  readonly reasoning: string
  readonly refusal: string
  readonly tools: readonly object[]
  readonly finish: unknown
}

/** Throws an `AssertionError` where a whole reply does not say what it should. */
export function expectWhole({ choices, usage }: Pick<ChatCompletion, 'choices' | 'usage'>, says: Said): void {
  assert.equal(choices.length, 1, 'the reply has one choice')
  const { message, finish_reason } = choices[0]!
  const { role, content, refusal, reasoning_content, tool_calls = [] } = message
  assert.equal(role, 'assistant', 'the message has its role')
  expectSaid(says, {
    text: content ?? '',
    reasoning: reasoning_content ?? '',
    refusal: refusal ?? '',
    tools: tool_calls.map(({ function: called }) => ({ name: called!.name, arguments: JSON.parse(called!.arguments) })),
    finish: finish_reason,
  })
  // Clients tell by null that there is no text.
  if (says.text === undefined && says.tools !== undefined) assert.equal(content, null, 'a message of calls alone has no content')
  for (const { type } of tool_calls) assert.equal(type, 'function', 'a tool call has its type')
  expectDistinct(tool_calls.map(({ id }) => id))
  expectUsage(usage, says)
}

/** Throws an `AssertionError` where a stream, put together, does not say what it should. */
export function expectStreamed({ choices, usage }: Gathered, says: Said): void {
  assert.equal(choices.length, 1, 'the stream has one choice')
  const { content, reasoning, refusal, tools, finish } = choices[0]!
  expectSaid(says, {
    text: content,
    reasoning,
    refusal,
    tools: tools.map(({ name, arguments: text }) => ({ name, arguments: JSON.parse(text) })),
    finish,
  })
  expectDistinct(tools.map(({ id }) => id))
  expectUsage(usage, says)
}

/** What is not named must not be there: as likely as the reply is wrong, the fixture forgot it. */
function expectSaid(says: Said, read: Read): void {
  for (const part of ['text', 'reasoning', 'refusal', 'tools'] as const) {
    if (says[part] !== undefined || read[part].length === 0) continue
    assert.fail(`the fixture's \`says\` has no ${part}, but the client read ${JSON.stringify(read[part])}`)
  }
  const { text = '', reasoning = '', refusal = '', tools = [] } = says
  assert.deepEqual(read, { text, reasoning, refusal, tools, finish: finishOf(says) })
}

function expectDistinct(ids: readonly (string | undefined)[]): void {
  assert.ok(ids.every(Boolean), 'every tool call has an id')
  assert.equal(new Set(ids).size, ids.length, 'no two tool calls have the same id')
}

function expectUsage(usage: ChatCompletion['usage'], { usage: expected }: Said): void {
  if (expected === undefined) return
  assert.partialDeepStrictEqual(usage, expected, 'the usage is told')
  assert.equal(usage?.total_tokens, usage!.prompt_tokens + usage!.completion_tokens, 'the total is the sum')
}

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
