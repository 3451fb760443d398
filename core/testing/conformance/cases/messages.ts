import assert from 'node:assert/strict'
import type { Usage } from '../../../sdk/api.ts'
import { finishOf, type Said } from '../../upstream/openai-reply.ts'
import type { Suite } from '../harness.ts'
import type { ReplyFixture, Scenarios } from '../provider-under-test.ts'
import { type ReadBlock, type ReadMessage, readMessageStream } from '../read-messages.ts'
import { IMAGE, requestOf } from '../requests.ts'
import { type ClientUnderTest, describeClient } from './client-protocol.ts'

/** Cases for clients of Anthropic's Messages API. */
export function describeMessages(suite: Suite): void {
  const { subject } = suite
  describe('gives a client of the Messages API', () => {
    describeClient(suite, CLIENT)

    it('an error of the Messages API', async () => {
      const reply = await suite.harness.post({ model: subject.model, messages: [] }, { path: CLIENT.path })
      const { type, error } = (await reply.json()) as { type: string; error: { type: string } }
      assert.deepEqual([reply.status, type, error.type], [400, 'error', 'invalid_request_error'])
    })
  })
}

/** Enough to think with. */
const MAX_TOKENS = 10_000

/** The scenario's request in the terms of the Messages API. */
function bodyOf({ subject }: Suite, name: keyof Scenarios, fixture: ReplyFixture) {
  const asked: Readonly<Record<string, unknown>> & { readonly model: string } = requestOf(subject.model, name, fixture)
  const tools = asked.tools as
    | readonly { readonly function: { readonly name: string; readonly parameters: object } }[]
    | undefined
  return {
    model: asked.model,
    max_tokens: asked.max_tokens ?? MAX_TOKENS,
    messages: name === 'image' ? PICTURE : (asked.messages as readonly object[]),
    ...(tools && { tools: tools.map(({ function: { name: tool, parameters } }) => ({ name: tool, input_schema: parameters })) }),
    ...(asked.reasoning_effort !== undefined && { thinking: { type: 'enabled', budget_tokens: 2000 } }),
  }
}

const PICTURE = [
  {
    role: 'user',
    content: [
      { type: 'text', text: 'What is this?' },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: IMAGE } },
    ],
  },
]

/** The stop reasons of each finish reason. Anthropic itself has more than are translated. */
const STOPS: Readonly<Record<string, readonly string[]>> = {
  stop: ['end_turn', 'stop_sequence'],
  length: ['max_tokens', 'model_context_window_exceeded'],
  tool_calls: ['tool_use'],
  content_filter: ['refusal'],
}

function expectMessage({ content, stop, usage }: ReadMessage, says: Said): void {
  const joined = (type: string, member: string) =>
    content.flatMap((block) => (block.type === type ? String(block[member]) : [])).join('')
  assert.deepEqual(
    {
      text: joined('text', 'text'),
      reasoning: joined('thinking', 'thinking'),
      tools: content.filter(({ type }) => type === 'tool_use').map(({ name, input }) => ({ name, arguments: input })),
    },
    { text: (says.text ?? '') + (says.refusal ?? ''), reasoning: says.reasoning ?? '', tools: says.tools ?? [] },
  )
  const stops = says.refusal === undefined ? STOPS[finishOf(says)] : ['refusal']
  assert.ok(stops?.includes(String(stop)), `${stop} is not one of ${stops}`)
  if (says.usage !== undefined) expectUsage(usage, says.usage)
}

function expectUsage(read: ReadMessage['usage'], { prompt_tokens: prompt, completion_tokens: completion }: Partial<Usage>): void {
  const { input_tokens: input, cache_read_input_tokens: cached, cache_creation_input_tokens: written, output_tokens } = read
  const all = [input, cached, written].reduce((sum: number, count) => sum + Number(count ?? 0), 0)
  if (prompt !== undefined) assert.equal(all, prompt, 'the tokens of the prompt, those of the cache included')
  if (completion !== undefined) assert.equal(output_tokens, completion)
}

const toResult = ({ id, name }: ReadBlock, index: number) => ({
  type: 'tool_result',
  tool_use_id: id,
  content: `result ${index} of ${name}`,
})

const CLIENT: ClientUnderTest<ReturnType<typeof bodyOf>, ReadMessage> = {
  path: '/v1/messages',
  body: bodyOf,
  whole(text) {
    const { content, stop_reason: stop, usage } = JSON.parse(text)
    return { content, stop, usage }
  },
  stream(text) {
    const read = readMessageStream(text)
    assert.equal(read.error, undefined)
    return read
  },
  expect: expectMessage,
  next(body, { content }) {
    const results = content.filter(({ type }) => type === 'tool_use').map(toResult)
    const messages = [...body.messages, { role: 'assistant', content }, { role: 'user', content: results }]
    return { body: { ...body, messages }, results: results.map(({ content: result }) => result) }
  },
}
