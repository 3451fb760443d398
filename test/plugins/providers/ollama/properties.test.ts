import { expect } from 'chai'
import fc from 'fast-check'
import { gather, runTranslator } from 'unified-model-gateway/plugin/testing'
import type { ChatBody } from '../../../../plugins/providers/ollama/wire.ts'
import { anyRequest, anyWords, expectTakenOrRefused } from '../../../support/any-request.ts'
import { readChunks } from '../../../support/read-chunks.ts'
import { line, type Piece, reply } from './chat-api.ts'
import { ollama, translate } from './ollama.ts'

const image = (url: string) => ({ type: 'image_url', image_url: { url } })

const request = anyRequest({
  models: ['gpt-oss:20b', 'hf.co/some/model:Q4_K_M'],
  parts: [
    image('data:image/png;base64,QQ=='),
    image('https://a/b.png'),
    { type: 'input_audio', input_audio: { data: 'QQ==', format: 'wav' } },
    { type: 'file', file: { file_data: 'QQ==' } },
  ],
  fields: { seed: fc.maxSafeInteger(), top_k: fc.nat(100), logprobs: fc.boolean(), n: fc.constantFrom(1, null) },
})

describe('ollama: random valid requests', () => {
  it('are translated to valid requests, or refused with a reason', () => expectTakenOrRefused(request, translate, expectTakeable))
})

/** Whether Go's types take a request (`api/types.go`). */
function expectTakeable({ messages, stream, tools = [], options = {}, think = false }: ChatBody): void {
  expect(stream).to.be.a('boolean')
  for (const { role, content, images = [], tool_calls = [] } of messages) {
    expect(['system', 'user', 'assistant', 'tool']).to.include(role)
    expect(content).to.be.a('string')
    for (const one of images) expect(one, 'bytes, and no address').to.match(/^[A-Za-z0-9+/]*={0,2}$/)
    for (const { function: called } of tool_calls) expect(called.arguments).to.be.an('object')
  }
  for (const { function: tool } of tools) expect(tool.parameters).to.have.any.keys('type', 'properties')
  for (const [name, value] of Object.entries(options)) {
    if (name === 'stop') expect(value).to.be.an('array').that.does.not.include('')
    else expect(value, name).to.be.a('number')
  }
  expect([false, 'low', 'medium', 'high', 'max']).to.include(think)
}

const piece: fc.Arbitrary<Piece> = fc.oneof(
  fc.record({ content: anyWords }),
  fc.record({ thinking: anyWords }),
  fc.record({
    content: anyWords,
    tool_calls: fc.array(
      fc.record(
        {
          id: fc.uuid(),
          function: fc.record(
            { name: fc.constantFrom('look', 'listen'), arguments: fc.dictionary(fc.string(), fc.jsonValue()) },
            { requiredKeys: ['name'] },
          ),
        },
        { requiredKeys: ['function'] },
      ),
      { maxLength: 3 },
    ),
  }),
)

/** What a hostile or broken upstream may send: the protocol's members with any values. */
const anything = fc.oneof(fc.constantFrom(true, null, [], {}), fc.integer(), fc.jsonValue())
const brokenLine = fc.record(
  {
    message: fc.oneof(
      anything,
      fc.record(
        {
          content: anything,
          thinking: anything,
          tool_calls: fc.oneof(
            anything,
            fc.array(
              fc.record({ id: anything, function: fc.oneof(anything, fc.record({ name: anything, arguments: anything })) }),
            ),
          ),
        },
        { requiredKeys: [] },
      ),
    ),
    done: anything,
    done_reason: anything,
    prompt_eval_count: anything,
    eval_count: anything,
    logprobs: fc.oneof(anything, fc.array(fc.record({ token: anything, logprob: anything, top_logprobs: anything }))),
    error: fc.option(anything, { nil: undefined }),
  },
  { requiredKeys: [] },
)

describe('ollama: random streams', () => {
  it('of valid lines are translated completely', async () => {
    const provider = await ollama()
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 6 }), (pieces) => {
        const { chunks, done } = runTranslator(provider, { stream: reply(pieces).stream })
        expect(done).to.equal(true)
        readChunks(chunks)
        const { content, reasoning, tools } = gather(chunks).choices[0]!
        const join = (name: 'content' | 'thinking') => pieces.map((one) => one[name] ?? '').join('')
        expect({ content, reasoning }).to.deep.equal({ content: join('content'), reasoning: join('thinking') })
        const called = pieces.flatMap(({ tool_calls = [] }) => tool_calls.map((call) => call.function))
        expect(tools.map(({ name, arguments: values }) => ({ name, values }))).to.deep.equal(
          called.map(({ name, arguments: values = {} }) => ({ name, values: JSON.stringify(values) })),
        )
      }),
      { numRuns: 500 },
    )
  })

  it('of invalid lines are readable or fail', async () => {
    const provider = await ollama()
    fc.assert(
      fc.property(fc.array(brokenLine, { maxLength: 5 }), (lines) => {
        const { chunks, done, failure } = runTranslator(provider, { stream: lines.map(line) })
        expect(done).to.equal(failure === undefined)
        if (done) readChunks(chunks)
      }),
      { numRuns: 500 },
    )
  })
})
