import { expect } from 'chai'
import { GatewayError } from 'unified-model-gateway/plugin'
import { runTranslator } from 'unified-model-gateway/plugin/testing'
import { bedrock, event, exception, fixture, frame, hear, MODEL } from './support.ts'

const START = event({ messageStart: { role: 'assistant' } })
const END = [
  event({ messageStop: { stopReason: 'end_turn' } }),
  event({ metadata: { usage: { inputTokens: 1, outputTokens: 1 } } }),
]

async function failureOf(frames: readonly Buffer[]): Promise<GatewayError> {
  const failure: unknown = await hear(frames).catch((error: unknown) => error)
  expect(failure).to.be.instanceOf(GatewayError)
  return failure as GatewayError
}

describe('bedrock: a streamed reply', () => {
  it('has its texts, then one finish, then the usage', async () => {
    const { chunks, done } = runTranslator(await bedrock(), { stream: fixture('text') }, { model: `aws/${MODEL}` })
    expect(chunks.map(({ choices, usage }) => ({ choices, usage }))).to.deep.equal([
      { choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }], usage: null },
      { choices: [{ index: 0, delta: { content: 'Hel' }, finish_reason: null }], usage: null },
      { choices: [{ index: 0, delta: { content: 'lo, 世界 👋' }, finish_reason: null }], usage: null },
      { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage: null },
      {
        choices: [],
        usage: {
          prompt_tokens: 25,
          completion_tokens: 15,
          total_tokens: 40,
          prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
        },
      },
    ])
    expect(done).to.equal(true)
  })

  it('has parallel tool calls with their own arguments', async () => {
    const { tools, finish, content } = await hear(fixture('parallel-tools'))
    expect(tools).to.deep.equal([
      { id: 'tooluse_A', name: 'get_weather', arguments: '{"city": "Oslo"}' },
      { id: 'tooluse_B', name: 'get_weather', arguments: '{"city":"Rome"}' },
    ])
    expect({ finish, content }).to.deep.equal({ finish: 'tool_calls', content: '' })
  })

  it('has the arguments {} for a call without arguments', async () => {
    expect((await hear(fixture('tool-without-arguments'))).tools).to.deep.equal([
      { id: 'tooluse_A', name: 'look', arguments: '{}' },
    ])
  })

  it('has index 0 for the first tool call after text', async () => {
    const { content, tools } = await hear(fixture('text-before-tools'))
    expect(content).to.equal('Let me look. And listen.')
    expect(tools.map(({ name, arguments: text }) => [name, text])).to.deep.equal([
      ['look', '{"at":"sea"}'],
      ['listen', '{}'],
    ])
  })

  it('has reasoning as reasoning_content', async () => {
    const { content, reasoning } = await hear(fixture('reasoning'))
    expect({ content, reasoning }).to.deep.equal({ content: 'Done.', reasoning: 'Let me think.' })
  })

  it('has content_filter for a guardrail, and length for a truncated reply', async () => {
    const stopped = await hear(fixture('guardrail'))
    expect(stopped).to.include({ content: "Sorry, I can't talk about that.", finish: 'content_filter' })
    expect((await hear(fixture('max-tokens'))).finish).to.equal('length')
  })

  it('includes cached tokens in the prompt tokens', async () => {
    expect((await hear(fixture('cache-usage'))).usage).to.deep.equal({
      prompt_tokens: 1210,
      completion_tokens: 50,
      total_tokens: 1260,
      prompt_tokens_details: { cached_tokens: 1000, cache_write_tokens: 200 },
    })
  })

  it('omits tools that Bedrock ran, citations and unknown events', async () => {
    const { content, tools } = await hear(fixture('bedrocks-own-tools'))
    expect(content).to.equal('Low tide.')
    expect(tools).to.deep.equal([{ id: 'tooluse_A', name: 'walk', arguments: '{}' }])
  })

  it('has tool_calls for an end_turn after a tool call', async () => {
    const call = event({ contentBlockStart: { contentBlockIndex: 0, start: { toolUse: { toolUseId: 'a', name: 'look' } } } })
    expect((await hear([START, call, ...END])).finish).to.equal('tool_calls')
  })

  it('may have metadata before messageStop', async () => {
    const { finish, usage } = await hear([START, ...END.toReversed()])
    expect(finish).to.equal('stop')
    expect(usage).to.include({ total_tokens: 2 })
  })

  it('has the JSON object alone, if the client asks for one', async () => {
    const words = ['```json\n', '{"a":', ' 1}', '\n```'].map((text) =>
      event({ contentBlockDelta: { contentBlockIndex: 0, delta: { text } } }),
    )
    const { content, finish, usage } = await hear([START, ...words, ...END], { response_format: { type: 'json_object' } })
    expect({ content, finish, tokens: usage?.total_tokens }).to.deep.equal({ content: '{"a": 1}', finish: 'stop', tokens: 2 })
  })

  it('ignores events after its end', async () => {
    const late = event({ contentBlockDelta: { contentBlockIndex: 9, delta: { text: '?' } } })
    expect((await hear([...fixture('text'), late])).content).to.equal('Hello, 世界 👋')
  })
})

describe('bedrock: a stream that fails', () => {
  for (const [name, status, row] of [
    ['throttlingException', 429, 'upstream_rate_limited'],
    ['validationException', 400, 'upstream_rejected'],
    ['internalServerException', 502, 'upstream_error'],
    ['serviceUnavailableException', 503, 'upstream_overloaded'],
    ['modelStreamErrorException', 502, 'upstream_error'],
    ['modelTimeoutException', 502, 'upstream_error'],
    ['somethingNewException', 502, 'upstream_error'],
  ] as const) {
    it(`with ${name} fails with it, without a finish`, async () => {
      const failure = await failureOf([...fixture('text').slice(0, 3), exception(name, 'Words.')])
      expect(failure).to.include({ status, row })
    })
  }

  it('with an error frame fails', async () => {
    const headers = { ':message-type': 'error', ':error-code': 'ThrottlingException', ':error-message': 'Slow down.' }
    expect(await failureOf([START, frame(headers, '')])).to.include({ row: 'upstream_rate_limited' })
  })

  it('with a frame without a type fails', async () => {
    expect(await failureOf([START, frame({}, {})])).to.include({ row: 'upstream_error' })
  })

  it('without its last event is incomplete, even with a stop reason', async () => {
    const frames = fixture('text')
    for (let count = 0; count < frames.length; count++) {
      expect(await failureOf(frames.slice(0, count)), `after ${count} frames`).to.include({ row: 'upstream_disconnected' })
    }
  })

  it('without a stop reason is invalid, with content too', async () => {
    const stop = [event({ messageStop: {} }), END[1]!]
    const words = event({ contentBlockDelta: { contentBlockIndex: 0, delta: { text: 'Hi' } } })
    for (const frames of [stop, [START, ...stop], stop.toReversed(), [START, words, ...stop]]) {
      expect(await failureOf(frames)).to.include({ row: 'upstream_invalid_response' })
    }
  })

  it('with malformed output of the model fails', async () => {
    for (const stopReason of ['malformed_model_output', 'malformed_tool_use']) {
      expect(await failureOf([START, event({ messageStop: { stopReason } }), END[1]!])).to.include({ row: 'upstream_error' })
    }
  })

  it('with invalid JSON is invalid', async () => {
    const headers = { ':message-type': 'event', ':event-type': 'contentBlockDelta' }
    expect(await failureOf([START, frame(headers, null)])).to.include({ row: 'upstream_invalid_response' })
  })

  it('with endless reasoning fails', async () => {
    const delta = { reasoningContent: { text: 'x'.repeat(1_000_000) } }
    const thought = event({ contentBlockDelta: { contentBlockIndex: 0, delta } })
    expect(await failureOf(Array.from({ length: 9 }, () => thought))).to.include({ row: 'upstream_invalid_response' })
  })
})
