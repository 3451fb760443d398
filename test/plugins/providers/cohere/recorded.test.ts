import { existsSync, readFileSync } from 'node:fs'
import { expect } from 'chai'
import { runTranslator } from 'unified-model-gateway/plugin/testing'
import { cohere, eventsOf, hear } from './support.ts'

// True replies, kept beside the project and not part of it.
const RECORDED = new URL('../../../../../shared/fixtures/recorded/', import.meta.url)

function recorded(file: string, check: (text: string) => Promise<void>): void {
  const url = new URL(file, RECORDED)
  if (existsSync(url)) it(`${file} reads well`, () => check(readFileSync(url, 'utf8')))
  else it.skip(`${file} reads well (skipped: the recordings are not beside this checkout)`)
}

const CITY = { location: 'San Francisco' }
const CITY_TOO = { city: 'San Francisco' }

describe('cohere: recorded replies', () => {
  recorded('cohere-text.json', async (text) => {
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

  recorded('cohere-text.chunks.txt', async (text) => {
    const { content, finish, usage } = await hear(eventsOf(text))
    expect({ content, finish }).to.deep.equal({ content: 'The capital of France is Paris.', finish: 'stop' })
    expect(usage).to.deep.include({ prompt_tokens: 507, prompt_tokens_details: { cached_tokens: 448 } })
  })

  recorded('cohere-tool-call.json', async (text) => {
    const { message, finish_reason } = runTranslator(await cohere(), { whole: text }).choices[0]!
    const { content, reasoning_content, tool_calls } = message
    expect(content).to.equal(null)
    expect(reasoning_content).to.match(/^I will use the weather tool/)
    expect(tool_calls?.map(({ function: called }) => [called.name, JSON.parse(called.arguments)])).to.deep.equal([
      ['weather', CITY],
      ['cityAttractions', CITY_TOO],
    ])
    expect(tool_calls?.[0]?.extra_content).to.deep.equal({ cohere: { tool_plan: reasoning_content } })
    expect(finish_reason).to.equal('tool_calls')
  })

  recorded('cohere-tool-call.chunks.txt', async (text) => {
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
