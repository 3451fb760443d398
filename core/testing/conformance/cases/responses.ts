import assert from 'node:assert/strict'
import type { Usage } from '../../../sdk/api.ts'
import { finishOf, type Said } from '../../upstream/openai-reply.ts'
import type { Suite } from '../harness.ts'
import type { ReplyFixture, Scenarios } from '../provider-under-test.ts'
import { type ReadItem, type ReadResponse, readResponseStream } from '../read-responses.ts'
import { IMAGE, requestOf } from '../requests.ts'
import { type ClientUnderTest, describeClient } from './client-protocol.ts'
import { describePassedResponses, RESPONSES_UPSTREAM } from './passed-responses.ts'

/** Cases for clients of OpenAI's Responses API. */
export function describeResponses(suite: Suite): void {
  const { subject } = suite
  const isPassed = subject.responses === 'verbatim'
  describe('gives a client of the Responses API', () => {
    describeClient(suite, isPassed ? { ...CLIENT, upstream: RESPONSES_UPSTREAM } : CLIENT)
    if (isPassed) describePassedResponses(suite)

    it('an error of the Responses API', async () => {
      const reply = await suite.harness.post({ model: subject.model, input: 7 }, { path: CLIENT.path })
      const { error } = (await reply.json()) as { error: { type: string; param: string } }
      assert.deepEqual([reply.status, error.type, error.param], [400, 'invalid_request_error', 'input'])
    })
  })
}

type Tools = readonly { readonly function: { readonly name: string; readonly parameters: object } }[]

/** The scenario's request in the terms of the Responses API. */
function bodyOf({ subject }: Suite, name: keyof Scenarios, fixture: ReplyFixture) {
  const asked: Readonly<Record<string, unknown>> & { readonly model: string } = requestOf(subject.model, name, fixture)
  const tools = asked.tools as Tools | undefined
  return {
    model: asked.model,
    input: name === 'image' ? PICTURE : (asked.messages as readonly object[]),
    ...(asked.max_tokens !== undefined && { max_output_tokens: asked.max_tokens }),
    ...(tools && { tools: tools.map((tool) => ({ type: 'function', strict: false, ...tool.function })) }),
    ...(asked.reasoning_effort !== undefined && { reasoning: { effort: asked.reasoning_effort } }),
  }
}

const PICTURE = [
  {
    role: 'user',
    content: [
      { type: 'input_text', text: 'What is this?' },
      { type: 'input_image', image_url: `data:image/png;base64,${IMAGE}` },
    ],
  },
]

/** Why a response is incomplete, by the finish reason. */
const REASONS: Readonly<Record<string, string>> = { length: 'max_output_tokens', content_filter: 'content_filter' }

function expectResponse({ output, status, usage, response }: ReadResponse, says: Said): void {
  const joined = (member: string, text: string) =>
    output
      .flatMap((item) => (item[member] ?? []) as readonly Readonly<Record<string, unknown>>[])
      .map((part) => String(part[text] ?? ''))
      .join('')
  assert.deepEqual(
    {
      text: joined('content', 'text'),
      refusal: joined('content', 'refusal'),
      reasoning: joined('summary', 'text'),
      tools: output
        .filter(({ type }) => type === 'function_call')
        .map(({ name, arguments: text }) => ({ name, arguments: JSON.parse(String(text)) })),
    },
    { text: says.text ?? '', refusal: says.refusal ?? '', reasoning: says.reasoning ?? '', tools: says.tools ?? [] },
  )
  const reason = REASONS[finishOf(says)]
  assert.equal(status, reason === undefined ? 'completed' : 'incomplete')
  assert.deepEqual(response.incomplete_details, reason === undefined ? null : { reason })
  if (says.usage !== undefined) expectUsage(usage, says.usage)
}

function expectUsage({ input_tokens: input, output_tokens: output }: ReadResponse['usage'], usage: Partial<Usage>): void {
  if (usage.prompt_tokens !== undefined) assert.equal(input, usage.prompt_tokens)
  if (usage.completion_tokens !== undefined) assert.equal(output, usage.completion_tokens)
}

const toOutput = ({ call_id, name }: ReadItem, index: number) => ({
  type: 'function_call_output',
  call_id,
  output: `result ${index} of ${name}`,
})

const CLIENT: ClientUnderTest<ReturnType<typeof bodyOf>, ReadResponse> = {
  path: '/v1/responses',
  body: bodyOf,
  whole(text) {
    const response = JSON.parse(text)
    return { output: response.output, status: response.status, usage: response.usage, response }
  },
  stream(text) {
    const read = readResponseStream(text)
    assert.equal(read.error, undefined)
    return read
  },
  expect: expectResponse,
  next(body, { output }) {
    const results = output.filter(({ type }) => type === 'function_call').map(toOutput)
    return { body: { ...body, input: [...body.input, ...output, ...results] }, results: results.map((one) => one.output) }
  },
}
