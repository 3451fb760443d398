import assert from 'node:assert/strict'
import type { Usage } from '../../../sdk/api.ts'
import { finishOf, type Said } from '../../upstream/openai-reply.ts'
import type { Suite } from '../harness.ts'
import { isAbsent, present, type ReplyFixture, type Scenarios } from '../provider-under-test.ts'
import { type ReadBlock, type ReadMessage, readMessageStream } from '../read-messages.ts'
import { IMAGE, requestOf } from '../requests.ts'
import { streamBody, streamScript, wholeScript } from '../scripts.ts'

/** Cases for clients of Anthropic's Messages API: each scenario, whole and streamed, and the turn after a tool call. */
export function describeMessages(suite: Suite): void {
  const { subject } = suite
  const { reasoningBeforeTools } = subject.scenarios

  describe('gives a client of the Messages API', () => {
    for (const stream of [false, true]) {
      const streamed = stream ? ', streamed' : ''
      for (const [name, fixture] of present(subject)) {
        it(`${name}${streamed}`, async () => {
          expectMessage(await ask(suite, fixture, bodyOf(suite, name, fixture), stream), fixture.says)
          if (name === 'image' && !subject.local) assert.ok(suite.harness.received.at(-1)?.body.includes(IMAGE))
        })
      }
      if (!isAbsent(reasoningBeforeTools) && !subject.local) {
        it(`what the upstream wants back with the result of a tool${streamed}`, async () => {
          const next = await secondTurn(suite, reasoningBeforeTools, stream)
          assert.ok(
            next.includes(reasoningBeforeTools.returns),
            `the next request contains ${reasoningBeforeTools.returns}: ${next}`,
          )
        })
      }
    }

    it('an error of the Messages API', async () => {
      const reply = await suite.harness.post({ model: subject.model, messages: [] }, { path: '/v1/messages' })
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

async function ask({ subject, harness }: Suite, fixture: ReplyFixture, body: object, stream: boolean): Promise<ReadMessage> {
  if (!subject.local) harness.answer(stream ? streamScript(subject, streamBody(fixture)) : wholeScript(fixture))
  const reply = await harness.post(stream ? { ...body, stream } : body, { path: '/v1/messages' })
  const text = await reply.text()
  assert.equal(reply.status, 200, text)
  if (stream) {
    const read = readMessageStream(text)
    assert.equal(read.error, undefined)
    return read
  }
  const { content, stop_reason: stop, usage } = JSON.parse(text)
  return { content, stop, usage }
}

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

/** Sends the model's message back unchanged, with the results of its tools. Resolves to the body of the upstream request. */
async function secondTurn(suite: Suite, fixture: ReplyFixture, stream: boolean): Promise<string> {
  const { subject, harness } = suite
  const body = bodyOf(suite, 'reasoningBeforeTools', fixture)
  const { content } = await ask(suite, fixture, body, stream)
  const results = content.filter(({ type }) => type === 'tool_use').map(toResult)
  const messages = [...body.messages, { role: 'assistant', content }, { role: 'user', content: results }]
  harness.answer(wholeScript(subject.scenarios.text))
  const answer = await harness.post({ ...body, messages }, { path: '/v1/messages' })
  assert.equal(answer.status, 200, await answer.text())
  const next = harness.received.at(-1)!.body.toString()
  for (const { content: result } of results) assert.ok(next.includes(result), `${result} is sent: ${next}`)
  return next
}

const toResult = ({ id, name }: ReadBlock, index: number) => ({
  type: 'tool_result',
  tool_use_id: id,
  content: `result ${index} of ${name}`,
})
