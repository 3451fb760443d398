import { expect } from 'chai'
import { GatewayError } from 'unified-model-gateway/plugin'
import { gather, runTranslator } from 'unified-model-gateway/plugin/testing'
import { cohere, event, fixture, hear } from './support.ts'

const START = event({ id: '1', type: 'message-start', delta: { message: { role: 'assistant' } } })
const end = (delta: object = { finish_reason: 'COMPLETE' }) => event({ type: 'message-end', delta })
const content = (value: object) => event({ type: 'content-delta', index: 0, delta: { message: { content: value } } })

async function failureOf(events: readonly string[]): Promise<GatewayError> {
  const failure: unknown = await hear(events).catch((error: unknown) => error)
  expect(failure).to.be.instanceOf(GatewayError)
  return failure as GatewayError
}

describe('cohere: a streamed reply', () => {
  it('has its texts, then one finish, then the usage', async () => {
    const { chunks, done } = runTranslator(await cohere(), { stream: fixture('text') })
    expect(chunks.map(({ choices, usage }) => ({ choices, usage }))).to.deep.equal([
      { choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }], usage: null },
      { choices: [{ index: 0, delta: { content: 'Hel' }, finish_reason: null }], usage: null },
      { choices: [{ index: 0, delta: { content: 'lo, 世界 👋' }, finish_reason: null }], usage: null },
      { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage: null },
      {
        choices: [],
        usage: {
          prompt_tokens: 71,
          completion_tokens: 9,
          total_tokens: 80,
          prompt_tokens_details: { cached_tokens: 64, unbilled_tokens: 66 },
          completion_tokens_details: { unbilled_tokens: 2 },
        },
      },
    ])
    expect(done).to.equal(true)
    expect(chunks[0]?.id).to.equal('c14c80c3-18eb-4519-9460-6c92edd8cfb4')
  })

  it('has parallel tool calls with their own arguments, and the plan as reasoning', async () => {
    const { tools, finish, content, reasoning } = await hear(fixture('parallel-tools'))
    expect(tools.map(({ id, name, arguments: json }) => [id, name, json])).to.deep.equal([
      ['get_weather_a', 'get_weather', '{"city": "Oslo"}'],
      ['get_weather_b', 'get_weather', '{"city":"Rome"}'],
    ])
    expect({ finish, content, reasoning }).to.deep.equal({ finish: 'tool_calls', content: '', reasoning: 'I will look twice.' })
  })

  for (const data of ['7', '{}', '{"type":null}']) {
    it(`is refused for what is no event: ${data}`, async () => {
      const failure = await failureOf([START, `data: ${data}\n\n`, content({ text: 'Hi' }), end()])
      expect(failure.row).to.equal('upstream_invalid_response')
    })
  }

  it('has the arguments {} for a call without arguments', async () => {
    const { tools } = await hear(fixture('tools-without-arguments'))
    expect(tools.map(({ arguments: json }) => JSON.parse(json))).to.deep.equal([{}, {}, {}])
  })

  it('has thinking as reasoning', async () => {
    const { content, reasoning } = await hear(fixture('thinking'))
    expect({ content, reasoning }).to.deep.equal({ content: 'Done.', reasoning: 'Let me think.' })
  })

  it('omits unknown events; counts billed tokens if no others are reported', async () => {
    const { content, finish, usage } = await hear(fixture('citations'))
    expect({ content, finish }).to.deep.equal({ content: 'Low tide.', finish: 'length' })
    expect(usage).to.deep.equal({ prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 })
  })

  it('has all citations in one chunk before its end', async () => {
    const cite = (start: number) => ({
      start,
      end: start + 3,
      text: 'Low',
      sources: [{ type: 'tool', id: 'tide_0', tool_output: {} }],
    })
    const cited = [0, 4].map((start) =>
      event({ type: 'citation-start', index: 0, delta: { message: { citations: cite(start) } } }),
    )
    const { chunks } = runTranslator(await cohere(), { stream: [START, content({ text: 'Low Low' }), ...cited, end()] })
    expect(chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta)).slice(-2)).to.deep.equal([
      { extra_content: { cohere: { citations: [cite(0), cite(4)] } } },
      {},
    ])
  })

  it('has no usage if none is reported', async () => {
    const { chunks, usage } = runTranslator(await cohere(), { stream: [START, end()] })
    expect([gather(chunks).choices[0]!.finish, usage]).to.deep.equal(['stop', undefined])
  })

  it('ignores events after its end', async () => {
    expect((await hear([...fixture('text'), content({ text: '?' })])).content).to.equal('Hello, 世界 👋')
  })

  it('is refused for arguments of an unknown call', async () => {
    const calls = { tool_calls: { function: { arguments: '{}' } } }
    const stray = event({ type: 'tool-call-delta', index: 3, delta: { message: calls } })
    const failure = await hear([START, stray, end()]).catch((error: unknown) => error)
    expect(failure).to.include({ row: 'upstream_invalid_response' })
  })
})

describe('cohere: a stream that fails', () => {
  for (const delta of [
    { finish_reason: 'ERROR', error: 'The GPU is on fire.' },
    { finish_reason: 'TIMEOUT' },
    { finish_reason: 'COMPLETE', error: 'Half of it.' },
  ]) {
    it(`with ${Object.values(delta).join(', ')} fails, without a finish`, async () => {
      expect(await failureOf([...fixture('text').slice(0, 3), end(delta)])).to.include({ row: 'upstream_error' })
    })
  }

  it('without message-end is incomplete', async () => {
    const events = fixture('parallel-tools')
    for (let count = 0; count < events.length; count++) {
      expect(await failureOf(events.slice(0, count)), `after ${count} events`).to.include({ row: 'upstream_disconnected' })
    }
  })

  it('without a finish reason is invalid, with content too', async () => {
    for (const events of [[end({})], [START, end({})], [START, content({ text: 'Hi' }), end({})]]) {
      expect(await failureOf(events)).to.include({ row: 'upstream_invalid_response' })
    }
  })

  it('with invalid JSON is invalid', async () => {
    expect(await failureOf([START, event('<html>'), end()])).to.include({ row: 'upstream_invalid_response' })
  })

  it('with endless thinking fails', async () => {
    const thought = content({ thinking: 'x'.repeat(1_000_000) })
    expect(await failureOf(Array.from({ length: 9 }, () => thought))).to.include({ row: 'upstream_invalid_response' })
    const plan = event({ type: 'tool-plan-delta', delta: { message: { tool_plan: 'x'.repeat(1_000_000) } } })
    expect(await failureOf(Array.from({ length: 9 }, () => plan))).to.include({ row: 'upstream_invalid_response' })
  })
})
