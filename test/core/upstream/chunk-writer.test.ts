import { expect } from 'chai'
import fc from 'fast-check'
import type { ChatChunk } from 'unified-model-gateway/plugin'
import { ChunkWriter } from '../../../core/upstream/readers/translated.ts'

/** Now and then another value, where one is all but constant. */
const mostly = <Value>(usual: Value, other: fc.Arbitrary<unknown>) =>
  fc.oneof({ weight: 6, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: other })

const delta = fc.oneof(
  fc.record({ content: fc.string({ unit: 'binary' }) }),
  fc.record({ content: fc.constantFrom(null, 'a'), refusal: fc.string() }, { requiredKeys: [] }),
  fc.record({ tool_calls: fc.array(fc.record({ index: fc.nat(), id: fc.string() })) }),
)

const choice = fc.oneof(
  fc.record({ index: fc.nat(), delta, finish_reason: mostly(null, fc.constantFrom('stop', undefined)) }),
  fc.record({ index: fc.nat(), delta, finish_reason: fc.constant(null), logprobs: fc.constantFrom(null, { content: [] }) }),
)

const chunk = fc
  .record(
    {
      id: mostly('msg_1', fc.string()),
      object: fc.constant('chat.completion.chunk'),
      created: mostly(1, fc.nat()),
      model: mostly('claude/x"\\', fc.string()),
      choices: fc.oneof({ weight: 6, arbitrary: fc.array(choice, { minLength: 1, maxLength: 2 }) }, fc.array(choice)),
      usage: mostly(null, fc.record({ total_tokens: fc.nat() })),
      service_tier: mostly(undefined, fc.string()),
    },
    { requiredKeys: ['id', 'object', 'created', 'model', 'choices'] },
  )
  .map((one) => one as unknown as ChatChunk)

describe('a written chunk', () => {
  it('equals the JSON that JSON.stringify writes', () => {
    fc.assert(
      fc.property(fc.array(chunk, { maxLength: 6 }), (chunks) => {
        const writer = new ChunkWriter()
        for (const one of chunks)
          expect(JSON.parse(writer.write(one).slice('data: '.length))).to.deep.equal(JSON.parse(JSON.stringify(one)))
      }),
      { numRuns: 500 },
    )
  })
})
