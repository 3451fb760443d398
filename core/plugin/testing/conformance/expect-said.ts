import assert from 'node:assert/strict'
import type { ChatCompletion } from '../../api.ts'
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
