import type { ContentBlockDelta, ConverseStreamOutput, StopReason, TokenUsage } from '@aws-sdk/client-bedrock-runtime'
import { expect } from 'chai'
import fc from 'fast-check'
import { runTranslator } from 'unified-model-gateway/plugin/testing'
import { readWire } from '../../../../core/testing/conformance/expect-reply.ts'
import { expectReadable } from '../../../support/expect-readable.ts'
import { bedrock, event, frame, MODEL } from './support.ts'

const provider = await bedrock()

function played(frames: readonly Buffer[]) {
  return runTranslator(provider, { stream: frames }, { model: `aws/${MODEL}` })
}

/** The bytes that a client reads of a complete stream. */
function heard(frames: readonly Buffer[]): string {
  const { chunks, failure } = played(frames)
  expect(failure).to.equal(undefined)
  return [...chunks.map((chunk) => JSON.stringify(chunk)), '[DONE]'].map((data) => `data: ${data}\n\n`).join('')
}

const END = [event({ messageStop: { stopReason: 'end_turn' } }), event({ metadata: {} })]

const STOPS: readonly StopReason[] = [
  'end_turn',
  'tool_use',
  'max_tokens',
  'stop_sequence',
  'guardrail_intervened',
  'content_filtered',
  'model_context_window_exceeded',
]

const words = fc.string({ maxLength: 12 })
/** Deltas of each kind of block, in the SDK's types; bytes are base64. */
const blocks = fc.oneof(
  fc.record({
    kind: fc.constant('text'),
    deltas: fc.array(
      words.map((text): ContentBlockDelta => ({ text })),
      { maxLength: 4 },
    ),
  }),
  fc.record({
    kind: fc.constant('reasoning'),
    deltas: fc.array(
      fc.oneof(
        words.map((text): ContentBlockDelta => ({ reasoningContent: { text } })),
        words.map((signature): ContentBlockDelta => ({ reasoningContent: { signature } })),
        fc.constant({ reasoningContent: { redactedContent: 'QUJD' } } as unknown as ContentBlockDelta),
      ),
      { maxLength: 4 },
    ),
  }),
  fc.record({
    kind: fc.constant('tool'),
    deltas: fc
      .tuple(
        fc.oneof(
          fc.constant(''),
          fc.dictionary(words, fc.jsonValue({ maxDepth: 1 }), { maxKeys: 2 }).map((value) => JSON.stringify(value)),
        ),
        fc.nat(),
      )
      .map(([json, at]) => [json.slice(0, at % (json.length + 1)), json.slice(at % (json.length + 1))])
      .map((pieces) => pieces.map((input): ContentBlockDelta => ({ toolUse: { input } }))),
  }),
)

const usage = fc.record<TokenUsage>(
  {
    inputTokens: fc.nat(),
    outputTokens: fc.nat(),
    totalTokens: fc.nat(),
    cacheReadInputTokens: fc.nat(),
    cacheWriteInputTokens: fc.nat(),
  },
  { requiredKeys: ['inputTokens', 'outputTokens', 'totalTokens'] },
)

/** A stream as ConverseStream documents it. */
const validStream = fc
  .record({ blocks: fc.array(blocks, { maxLength: 5 }), stopReason: fc.constantFrom(...STOPS), usage })
  .filter(({ blocks, stopReason }) => stopReason !== 'tool_use' || blocks.some(({ kind }) => kind === 'tool'))
  .map(({ blocks, stopReason, usage }): ConverseStreamOutput[] => [
    { messageStart: { role: 'assistant' } },
    ...blocks.flatMap(({ kind, deltas }, contentBlockIndex): ConverseStreamOutput[] => [
      ...(kind === 'tool'
        ? [{ contentBlockStart: { contentBlockIndex, start: { toolUse: { toolUseId: `t${contentBlockIndex}`, name: 'look' } } } }]
        : []),
      ...deltas.map((delta) => ({ contentBlockDelta: { contentBlockIndex, delta } })),
      { contentBlockStop: { contentBlockIndex } },
    ]),
    { messageStop: { stopReason } },
    { metadata: { usage, metrics: { latencyMs: 1 } } },
  ])

describe('bedrock: random valid streams', () => {
  it('are translated completely', () => {
    fc.assert(
      fc.property(validStream, (events) => {
        readWire(heard(events.map((one) => event({ ...one }))), true)
      }),
      { numRuns: 500 },
    )
  })

  it('are the same in pieces of any size', () => {
    fc.assert(
      fc.property(validStream, fc.array(fc.nat(), { maxLength: 6 }), (events, cuts) => {
        const bytes = Buffer.concat(events.map((one) => event({ ...one })))
        const edges = [0, ...cuts.map((cut) => cut % bytes.length).sort((one, other) => one - other), bytes.length]
        const pieces = edges.slice(1).map((edge, index) => bytes.subarray(edges[index], edge))
        expect(withoutIds(heard(pieces))).to.equal(withoutIds(heard([bytes])))
      }),
      { numRuns: 100 },
    )
  })
})

const withoutIds = (text: string): string => text.replace(/"(id|created)":("chatcmpl[^"]*"|\d+)/g, '')

/** What a broken or hostile upstream may send: the protocol's members with any values. */
const anything = fc.oneof(fc.constantFrom('text', 'x', null, {}), fc.integer(), fc.jsonValue())
const anyToolUse = fc.oneof(
  fc.record({ toolUseId: anything, name: anything, input: anything, type: anything }, { requiredKeys: [] }),
  anything,
)
const anyEvent = fc.record({
  type: fc.constantFrom(
    'messageStart',
    'contentBlockStart',
    'contentBlockDelta',
    'contentBlockStop',
    'messageStop',
    'metadata',
    'x',
  ),
  payload: fc.oneof(
    fc.record(
      {
        contentBlockIndex: fc.oneof(fc.nat(2), anything),
        start: fc.oneof(fc.record({ toolUse: anyToolUse }), anything),
        delta: fc.oneof(
          fc.record({ text: anything }),
          fc.record({ toolUse: anyToolUse }),
          fc.record({
            reasoningContent: fc.oneof(fc.record({ text: anything, signature: anything, redactedContent: anything }), anything),
          }),
          anything,
        ),
        stopReason: anything,
        usage: fc.oneof(fc.record({ inputTokens: anything, outputTokens: anything }), anything),
      },
      { requiredKeys: [] },
    ),
    anything,
  ),
})

describe('bedrock: random streams', () => {
  it('are readable or fail', () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 12 }), (events) => {
        const frames = events.map(({ type, payload }) => frame({ ':message-type': 'event', ':event-type': type }, payload))
        const { chunks, done, failure } = played([...frames, ...END])
        expect(done).to.equal(failure === undefined)
        expectReadable(chunks)
      }),
      { numRuns: 500 },
    )
  })
})
