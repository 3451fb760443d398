import { expect } from 'chai'
import fc from 'fast-check'
import { runTranslator } from 'unified-model-gateway/plugin/testing'
import { readWire } from '../../../../core/testing/conformance/expect-reply.ts'
import { expectReadable } from '../../../support/expect-readable.ts'
import type { StreamResponse } from './sdk-input.ts'
import { cohere, event } from './support.ts'

const provider = await cohere()

const words = fc.string({ maxLength: 12 })

/** The pieces of a text. */
const pieces = (text: fc.Arbitrary<string>) =>
  fc.tuple(text, fc.nat()).map(([all, at]) => [all.slice(0, at % (all.length + 1)), all.slice(at % (all.length + 1))])

const contents = fc
  .tuple(fc.constantFrom('text', 'thinking'), fc.array(words, { maxLength: 4 }))
  .map(([type, deltas]) => (index: number): StreamResponse[] => [
    {
      type: 'content-start',
      index,
      delta: { message: { content: type === 'text' ? { type, text: '' } : { type: 'thinking', thinking: '' } } },
    },
    ...deltas.map(
      (delta): StreamResponse => ({
        type: 'content-delta',
        index,
        delta: { message: { content: { [type]: delta } } },
      }),
    ),
    { type: 'content-end', index },
  ])

const json = fc.oneof(
  fc.constantFrom('', 'null', '{}'),
  fc.dictionary(words, fc.jsonValue({ maxDepth: 1 }), { maxKeys: 2 }).map((value) => JSON.stringify(value)),
)
const calls = pieces(json).map((deltas) => (index: number): StreamResponse[] => [
  {
    type: 'tool-call-start',
    index,
    delta: { message: { tool_calls: { id: `look_${index}`, type: 'function', function: { name: 'look', arguments: '' } } } },
  },
  ...deltas.map(
    (delta): StreamResponse => ({
      type: 'tool-call-delta',
      index,
      delta: { message: { tool_calls: { function: { arguments: delta } } } },
    }),
  ),
  { type: 'tool-call-end', index },
])

const counts = fc.record({ input_tokens: fc.nat(), output_tokens: fc.nat() }, { requiredKeys: [] })
const usage = fc.record({ billed_units: counts, tokens: counts, cached_tokens: fc.nat() }, { requiredKeys: [] })

/** A stream as the Chat API documents it, in the SDK's types. */
const validStream = fc
  .record({
    contents: fc.array(contents, { maxLength: 4 }),
    plan: fc.array(words, { maxLength: 3 }),
    calls: fc.array(calls, { maxLength: 4 }),
    end: fc.record(
      { finish_reason: fc.constantFrom('COMPLETE', 'STOP_SEQUENCE', 'MAX_TOKENS', 'TOOL_CALL'), usage },
      { requiredKeys: ['finish_reason'] },
    ),
  })
  .filter(({ calls, end }) => end.finish_reason !== 'TOOL_CALL' || calls.length > 0)
  .map(({ contents, plan, calls, end }): StreamResponse[] => [
    { type: 'message-start', id: 'c14c80c3', delta: { message: { role: 'assistant' } } },
    ...contents.flatMap((part, index) => part(index)),
    ...plan.map((tool_plan): StreamResponse => ({ type: 'tool-plan-delta', delta: { message: { tool_plan } } })),
    ...calls.flatMap((call, index) => call(index)),
    { type: 'message-end', delta: end },
  ])

/** The client's chunks of a complete stream, without their time. */
function heard(stream: readonly (string | Buffer)[]): string {
  const { chunks, failure } = runTranslator(provider, { stream })
  expect(failure).to.equal(undefined)
  const data = [...chunks.map((chunk) => JSON.stringify({ ...chunk, created: 1 })), '[DONE]']
  return data.map((one) => `data: ${one}\n\n`).join('')
}

describe('cohere: random valid streams', () => {
  it('are translated completely', () => {
    fc.assert(
      fc.property(validStream, (events) => {
        readWire(heard(events.map(event)), true)
      }),
      { numRuns: 500 },
    )
  })

  it('are the same in pieces of any size', () => {
    fc.assert(
      fc.property(validStream, fc.array(fc.nat(), { maxLength: 6 }), (events, cuts) => {
        const bytes = Buffer.from(events.map(event).join(''))
        const edges = [0, ...cuts.map((cut) => cut % bytes.length).sort((one, other) => one - other), bytes.length]
        const slices = edges.slice(1).map((edge, index) => bytes.subarray(edges[index], edge))
        expect(heard(slices)).to.equal(heard([bytes]))
      }),
      { numRuns: 100 },
    )
  })
})

/** What a broken or hostile upstream may send: the protocol's members with any values. */
const anything = fc.oneof(fc.constantFrom('text', 'null', null, {}), fc.integer(), fc.jsonValue())
const anyCall = fc.record(
  { id: anything, function: fc.oneof(fc.record({ name: anything, arguments: anything }, { requiredKeys: [] }), anything) },
  { requiredKeys: [] },
)
const anyMessage = fc.record(
  {
    content: fc.oneof(fc.record({ type: anything, text: anything, thinking: anything }, { requiredKeys: [] }), anything),
    tool_plan: anything,
    tool_calls: fc.oneof(anyCall, anything),
  },
  { requiredKeys: [] },
)
const anyEvent = fc.oneof(
  fc.record(
    {
      type: fc.constantFrom(
        'message-start',
        'content-start',
        'content-delta',
        'tool-plan-delta',
        'tool-call-start',
        'tool-call-delta',
      ),
      id: anything,
      index: fc.oneof(fc.nat(2), anything),
      delta: fc.oneof(fc.record({ message: fc.oneof(anyMessage, anything) }), anything),
    },
    { requiredKeys: ['type'] },
  ),
  fc.record(
    {
      type: fc.constant('message-end'),
      delta: fc.oneof(fc.record({ finish_reason: anything, usage: anything, error: anything }), anything),
    },
    { requiredKeys: ['type'] },
  ),
  anything,
)

describe('cohere: random streams', () => {
  it('are readable or fail', () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 12 }), (events) => {
        const stream = [...events, { type: 'message-end', delta: {} }].map((one) => event(JSON.stringify(one)))
        const { chunks, done, failure } = runTranslator(provider, { stream })
        expect(done).to.equal(failure === undefined)
        expectReadable(chunks)
      }),
      { numRuns: 500 },
    )
  })
})
