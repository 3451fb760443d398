import { expect } from 'chai'
import { parameters } from '../../../../plugins/providers/cohere/parameters.ts'
import { expectParametersOn, providerPage } from '../../../support/provider-page.ts'
import { translate } from './support.ts'

const TOOL = { type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } }
const SCHEMA = { type: 'object', properties: {}, additionalProperties: false }

/** Per mapped parameter: a request that uses it, and what of it must arrive. */
const ARRIVES: Readonly<Record<string, readonly [body: Record<string, unknown>, expected: object]>> = {
  model: [{ model: 'command-a-03-2025' }, { model: 'command-a-03-2025' }],
  messages: [{ messages: [{ role: 'user', content: 'Hi' }] }, { messages: [{ role: 'user', content: 'Hi' }] }],
  stream: [{ stream: true }, { stream: true }],
  stream_options: [{ stream: true, stream_options: { include_usage: true } }, { stream: true }],
  max_tokens: [{ max_tokens: 9 }, { max_tokens: 9 }],
  max_completion_tokens: [{ max_completion_tokens: 9, max_tokens: 5 }, { max_tokens: 9 }],
  temperature: [{ temperature: 0.5 }, { temperature: 0.5 }],
  top_p: [{ top_p: 0.5 }, { p: 0.5 }],
  frequency_penalty: [{ frequency_penalty: 0.5 }, { frequency_penalty: 0.5 }],
  presence_penalty: [{ presence_penalty: 0.5 }, { presence_penalty: 0.5 }],
  seed: [{ seed: 7 }, { seed: 7 }],
  stop: [{ stop: 'END' }, { stop_sequences: ['END'] }],
  tools: [{ tools: [TOOL] }, { tools: [TOOL] }],
  tool_choice: [
    { tools: [TOOL], tool_choice: 'required' },
    { tools: [TOOL], tool_choice: 'REQUIRED' },
  ],
  response_format: [
    { response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: SCHEMA } } },
    { response_format: { type: 'json_object', json_schema: SCHEMA } },
  ],
  reasoning_effort: [{ reasoning_effort: 'low', max_tokens: 1000 }, { thinking: { type: 'enabled', token_budget: 200 } }],
}

describe('cohere: what becomes of each parameter', () => {
  for (const [name, [body, expected]] of Object.entries(ARRIVES)) {
    it(`${name} arrives`, async () => expect(await translate(body)).to.deep.include(expected))
  }

  it('every mapped parameter has its line here', () => {
    const mapped = Object.keys(parameters).filter((name) => parameters[name]?.support === 'mapped')
    expect(mapped).to.have.members(Object.keys(ARRIVES))
  })

  it('the page lists every parameter with its support', () => expectParametersOn(providerPage('cohere'), parameters))
})
