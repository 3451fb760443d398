import { expect } from 'chai'
import { runTranslator } from 'unified-model-gateway/plugin/testing'
import { documentedEvents, documentedReply } from '../../../fixtures/documented.ts'
import { cohere, event, hear } from './support.ts'

const TEXT = 'The capital of Portugal is Lisbon.'
const PLAN = 'First I look up the weather in Lisbon, then the sights of Lisbon.'

describe('cohere: documented replies', () => {
  it('a whole text', async () => {
    const { id, choices, usage } = runTranslator(await cohere(), { whole: documentedReply('cohere-text') })
    expect(id).to.equal('6f1e0c52-9d3b-4a87-8c24-1b7a5e9d0f31')
    expect(choices[0]).to.nested.include({ 'message.content': TEXT, finish_reason: 'stop' })
    expect(usage).to.deep.equal({
      prompt_tokens: 498,
      completion_tokens: 11,
      total_tokens: 509,
      prompt_tokens_details: { cached_tokens: 432, unbilled_tokens: 489 },
      completion_tokens_details: { unbilled_tokens: 3 },
    })
  })

  it('a streamed text', async () => {
    const { content, finish, usage } = await hear(documentedEvents('cohere-text').map(event))
    expect({ content, finish }).to.deep.equal({ content: TEXT, finish: 'stop' })
    expect(usage).to.deep.include({ prompt_tokens: 498, prompt_tokens_details: { cached_tokens: 432, unbilled_tokens: 489 } })
  })

  it('whole tool calls', async () => {
    const whole = documentedReply('cohere-tool-call')
    const { message, finish_reason } = runTranslator(await cohere(), { whole }).choices[0]!
    const { content, reasoning_content, tool_calls } = message
    expect({ content, reasoning_content }).to.deep.equal({ content: null, reasoning_content: PLAN })
    expect(tool_calls?.map(({ function: called }) => [called!.name, JSON.parse(called!.arguments)])).to.deep.equal([
      ['weather', { location: 'Lisbon' }],
      ['sights', { city: 'Lisbon' }],
    ])
    expect(tool_calls?.[0]?.extra_content).to.deep.equal({ cohere: { tool_plan: PLAN } })
    expect(finish_reason).to.equal('tool_calls')
  })

  it('streamed tool calls', async () => {
    const { content, reasoning, tools, finish, usage } = await hear(documentedEvents('cohere-tool-call').map(event))
    expect({ content, finish, reasoning }).to.deep.equal({ content: '', finish: 'tool_calls', reasoning: PLAN })
    expect(tools.map(({ id, name, arguments: json }) => [id, name, JSON.parse(json)])).to.deep.equal([
      ['weather_doc000000001', 'weather', { location: 'Lisbon' }],
      ['sights_doc0000000002', 'sights', { city: 'Lisbon' }],
    ])
    expect(usage).to.include({ prompt_tokens: 1403, completion_tokens: 88 })
  })
})
