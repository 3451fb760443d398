import assert from 'node:assert/strict'
import { type ChatChunk, type ChatCompletion, type ChunkChoice, FINISH_REASONS, type ToolCallDelta } from '../../sdk/api.ts'
import type { Gathered } from '../translator/gather.ts'
import { finishOf, type Said } from '../upstream/openai-reply.ts'

/** The parts of a reply, as the client read them. */
interface ReplyParts {
  readonly text: string
  readonly reasoning: string
  readonly refusal: string
  readonly tools: readonly object[]
  readonly finish: unknown
}

/** Throws an `AssertionError` if a whole reply differs from the fixture's `says`. */
export function expectWhole({ choices, usage }: Pick<ChatCompletion, 'choices' | 'usage'>, says: Said): void {
  assert.equal(choices.length, 1, 'the reply has one choice')
  const { message, finish_reason } = choices[0]!
  const { role, content, refusal, reasoning_content, tool_calls = [] } = message
  assert.equal(role, 'assistant', 'the message has the role assistant')
  expectSaid(says, {
    text: content ?? '',
    reasoning: reasoning_content ?? '',
    refusal: refusal ?? '',
    tools: tool_calls.map(({ function: called }) => ({ name: called!.name, arguments: JSON.parse(called!.arguments) })),
    finish: finish_reason,
  })
  // Clients recognise a message without text by null.
  if (says.text === undefined && says.tools !== undefined)
    assert.equal(content, null, 'the content of a message with tool calls only is null')
  for (const { type } of tool_calls) assert.equal(type, 'function', 'a tool call has the type function')
  expectDistinct(tool_calls.map(({ id }) => id))
  expectUsage(usage, says)
}

/** Throws an `AssertionError` if an assembled stream differs from the fixture's `says`. */
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

/** A part that `says` lacks must be absent: the reply is wrong, or the fixture is incomplete. */
function expectSaid(says: Said, read: ReplyParts): void {
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
  assert.partialDeepStrictEqual(usage, expected, 'the reply contains the usage')
  assert.equal(usage?.total_tokens, usage!.prompt_tokens + usage!.completion_tokens, 'total_tokens is the sum')
}

const DONE = 'data: [DONE]'

/**
 * Reads a stream as the client receives it. Throws an `AssertionError` if it breaks a rule that clients rely on
 * (openai-openapi, `CreateChatCompletionStreamResponse`).
 */
export function readWire(text: string, includeUsage: boolean): ChatChunk[] {
  assert.ok(text.endsWith(`${DONE}\n\n`), `a stream ends with ${DONE}, but this one ends with ${JSON.stringify(text.slice(-80))}`)
  const frames = text.split('\n\n').slice(0, -2)
  // Comments keep a connection open, and clients ignore them.
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
  assert.ok(Number.isSafeInteger(first.created), 'a chunk has its creation time in whole seconds')
  for (const { id, object, created, model } of chunks) {
    const head = { id: first.id, object: 'chat.completion.chunk', created: first.created, model: first.model }
    assert.deepEqual({ id, object, created, model }, head, 'id, created and model are those of the first chunk')
  }
}

function expectUsageChunk(chunks: readonly ChatChunk[], includeUsage: boolean): void {
  const withUsage = chunks.filter(({ usage }) => usage != null)
  if (!includeUsage) {
    assert.deepEqual(withUsage, [], 'a stream has usage only if the request includes it')
    return
  }
  // The upstream may send no usage.
  if (withUsage.length === 0) return
  assert.deepEqual(withUsage, chunks.slice(-1), 'only the last chunk has usage')
  assert.deepEqual(withUsage[0]?.choices, [], 'the chunk with usage has no choices')
}

function expectChoice(choices: readonly ChunkChoice[]): void {
  for (const { delta, finish_reason } of choices) {
    assert.ok(typeof delta === 'object' && delta !== null, 'a choice has a delta')
    assert.ok(
      finish_reason === null || FINISH_REASONS.includes(finish_reason),
      `${finish_reason} is not a finish_reason of OpenAI`,
    )
  }
  const roles = choices.map(({ delta }) => delta.role)
  assert.deepEqual(roles.filter(Boolean), ['assistant'], 'a choice has one role')
  assert.equal(roles[0], 'assistant', 'the role comes first')
  const finishes = choices.map(({ finish_reason }) => finish_reason)
  assert.equal(finishes.filter((finish) => finish !== null).length, 1, 'a choice has one finish_reason')
  assert.ok(finishes.at(-1), 'nothing follows the finish_reason')
  expectTools(choices.flatMap(({ delta }) => delta.tool_calls ?? []))
}

function expectTools(parts: readonly ToolCallDelta[]): void {
  const byIndex = Map.groupBy(parts, ({ index }) => index)
  assert.deepEqual(
    [...byIndex.keys()],
    [...byIndex.keys()].keys().toArray(),
    'tool calls are numbered from 0 in order of appearance',
  )
  for (const [first, ...later] of byIndex.values()) {
    assert.ok(first?.id && first.function?.name, 'the first part of a tool call has an id and a name')
    assert.equal(first.type, 'function', 'the first part of a tool call has the type function')
    for (const { id, type, function: called } of later) {
      assert.deepEqual(
        [id, type, called?.name],
        [undefined, undefined, undefined],
        'later parts of a tool call repeat neither id, type nor name',
      )
    }
    const text = [first, ...later].map((part) => part.function?.arguments ?? '').join('')
    assert.doesNotThrow(() => JSON.parse(text), `the arguments of a tool call join to JSON: ${text}`)
  }
}
