import { expect } from 'chai'
import { runTranslator } from 'unified-model-gateway/plugin/testing'
import { recorded } from '../../openai-compatible/recorded.ts'
import { cohere, eventsOf, hear } from './support.ts'

const CITY = { location: 'San Francisco' }
const CITY_TOO = { city: 'San Francisco' }

describe('cohere: recorded replies', () => {
  it('cohere-text.json', async function () {
    const text = recorded('cohere-text.json', this)
    const { id, choices, usage } = runTranslator(await cohere(), { whole: text })
    expect(id).to.equal('e7592632-1e3d-424f-b129-bd5f9f980f7b')
    expect(choices[0]).to.have.nested.property('message.content', 'The capital of France is Paris.')
    expect(choices[0]).to.have.property('finish_reason', 'stop')
    expect(usage).to.deep.equal({
      prompt_tokens: 507,
      completion_tokens: 10,
      total_tokens: 517,
      prompt_tokens_details: { cached_tokens: 448 },
    })
  })

  it('cohere-text.chunks.txt', async function () {
    const text = recorded('cohere-text.chunks.txt', this)
    const { content, finish, usage } = await hear(eventsOf(text))
    expect({ content, finish }).to.deep.equal({ content: 'The capital of France is Paris.', finish: 'stop' })
    expect(usage).to.deep.include({ prompt_tokens: 507, prompt_tokens_details: { cached_tokens: 448 } })
  })

  it('cohere-tool-call.json', async function () {
    const text = recorded('cohere-tool-call.json', this)
    const { message, finish_reason } = runTranslator(await cohere(), { whole: text }).choices[0]!
    const { content, reasoning_content, tool_calls } = message
    expect(content).to.equal(null)
    expect(reasoning_content).to.match(/^I will use the weather tool/)
    expect(tool_calls?.map(({ function: called }) => [called!.name, JSON.parse(called!.arguments)])).to.deep.equal([
      ['weather', CITY],
      ['cityAttractions', CITY_TOO],
    ])
    expect(tool_calls?.[0]?.extra_content).to.deep.equal({ cohere: { tool_plan: reasoning_content } })
    expect(finish_reason).to.equal('tool_calls')
  })

  it('cohere-tool-call.chunks.txt', async function () {
    const text = recorded('cohere-tool-call.chunks.txt', this)
    const { content, reasoning, tools, finish, usage } = await hear(eventsOf(text))
    expect({ content, finish }).to.deep.equal({ content: '', finish: 'tool_calls' })
    expect(reasoning).to.equal(
      'I will use the weather tool to find the weather in San Francisco and the cityAttractions tool to find attractions in San Francisco.',
    )
    expect(tools.map(({ id, name, arguments: json }) => [id, name, JSON.parse(json)])).to.deep.equal([
      ['weather_e8p4pn45zt0t', 'weather', CITY],
      ['cityAttractions_pyxssbwnq9fq', 'cityAttractions', CITY_TOO],
    ])
    expect(usage).to.include({ prompt_tokens: 1549, completion_tokens: 95 })
  })
})
