import { expect } from 'chai'
import fc from 'fast-check'
import { GatewayError } from 'unified-model-gateway/plugin'

/** What of a request depends on the provider. */
export interface Variety {
  /** Names of models, of every kind that the provider tells apart. */
  readonly models: readonly string[]
  /** Parts of a message's content beside text, as the client may give them: those that the upstream takes, and those it does not. */
  readonly parts: readonly object[]
  /** What a tool call may bring back, as `extra_content`. */
  readonly thinkingState?: fc.Arbitrary<object>
  /** Fields of the request that not all providers look at. */
  readonly fields?: Readonly<Record<string, fc.Arbitrary<unknown>>>
}

/** A text, often one that upstreams trip over. */
export const anyWords = fc.oneof(fc.constantFrom('', ' ', '\n\t', 'Hello'), fc.string({ maxLength: 8 }))

const anyCallId = fc.oneof(fc.constantFrom('call_0', 'a:b', 'a.b', 'a_b', ''), fc.string({ maxLength: 80 }))
const anyArguments = fc.oneof(fc.constantFrom('', '{}', '{"a":1}', '{"a', '[]'), anyWords)

const anyTool = fc.record({
  type: fc.constant('function'),
  function: fc.record(
    {
      name: fc.constantFrom('look', 'listen'),
      description: anyWords,
      strict: fc.boolean(),
      parameters: fc.constantFrom({}, { type: 'object', properties: { at: { type: 'string', minLength: 2 } } }),
    },
    { requiredKeys: ['name'] },
  ),
})

/** A chat completion request as OpenAI would take it, its model named as the upstream has it after a namespace. */
export function anyRequest(variety: Variety): fc.Arbitrary<Readonly<Record<string, unknown>>> {
  return fc.record(
    {
      model: fc.constantFrom(...variety.models).map((name) => `any/${name}`),
      messages: fc
        .array(fc.oneof(anyTurn(variety), anyToolStep(variety)), { minLength: 1, maxLength: 6 })
        .map((turns) => turns.flat()),
      max_tokens: orNull(fc.integer({ min: 1, max: 50_000 })),
      temperature: orNull(fc.double({ min: 0, max: 2, noNaN: true })),
      top_p: fc.double({ min: 0, max: 1, noNaN: true }),
      stop: fc.oneof(anyWords, fc.array(anyWords, { maxLength: 4 })),
      tools: fc.array(anyTool, { maxLength: 2 }),
      tool_choice: fc.oneof(fc.constantFrom('none', 'auto', 'required', null), anyTool),
      parallel_tool_calls: fc.boolean(),
      reasoning_effort: fc.constantFrom('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max', null),
      response_format: fc.constantFrom(
        { type: 'text' },
        { type: 'json_object' },
        { type: 'json_schema', json_schema: { name: 'x', schema: { const: 'a' } } },
        { type: 'json_schema', json_schema: { name: 'x', description: 'X.', schema: { type: 'object' } } },
      ),
      stream: fc.boolean(),
      ...variety.fields,
    },
    { requiredKeys: ['model', 'messages'] },
  )
}

/** Whether each request becomes one that passes the check, or is refused with 400, in words. */
export function expectTakenOrRefused<Sent>(
  requests: ReturnType<typeof anyRequest>,
  translate: (body: Readonly<Record<string, unknown>>) => Promise<Sent>,
  expectTakeable: (sent: Sent) => void,
): Promise<void> {
  const property = fc.asyncProperty(requests, async (body) => {
    const sent = await translate(body).catch((error: unknown) => {
      expect(error).to.be.instanceOf(GatewayError)
      expect(error).to.have.property('status', 400)
      return undefined
    })
    if (sent !== undefined) expectTakeable(sent)
  })
  return fc.assert(property, { numRuns: 500 })
}

/** A message that stands alone. */
function anyTurn({ parts }: Variety): fc.Arbitrary<readonly object[]> {
  const text = fc.record({ type: fc.constant('text'), text: anyWords })
  const mixed = fc.array(fc.oneof(text, fc.constantFrom(...parts)), { maxLength: 3 })
  const content = fc.oneof({ weight: 4, arbitrary: anyWords }, { weight: 1, arbitrary: mixed }, fc.constant(null))
  return fc.record({ role: fc.constantFrom('user', 'system', 'developer', 'assistant'), content }).map((message) => [message])
}

/** An assistant message with tool calls, and the result of each, in any order. */
function anyToolStep({ thinkingState = fc.constant({}) }: Variety): fc.Arbitrary<readonly object[]> {
  return fc
    .record({
      content: orNull(anyWords),
      calls: fc.array(fc.tuple(anyCallId, anyArguments, fc.option(thinkingState, { nil: undefined })), {
        minLength: 1,
        maxLength: 4,
      }),
      shuffle: fc.nat(),
    })
    .map(({ content, calls, shuffle }) => {
      const tool_calls = calls.map(([id, text, extra_content]) => {
        return { id, type: 'function', function: { name: 'look', arguments: text }, ...(extra_content && { extra_content }) }
      })
      const results = calls.map(([id], index) => ({ role: 'tool', tool_call_id: id, content: index % 2 ? '' : 'Blue' }))
      const from = shuffle % results.length
      return [{ role: 'assistant', content, tool_calls }, ...results.slice(from), ...results.slice(0, from)]
    })
}

function orNull<T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> {
  return fc.option(arbitrary, { nil: null, freq: 4 })
}
