import { expect } from 'chai'
import type { TObject } from 'typebox'
import type { ParameterSupport } from 'unified-model-gateway/plugin'
import plugin from '../../../../plugins/providers/anthropic/index.ts'
import { parameters } from '../../../../plugins/providers/anthropic/parameters.ts'
import type { MessagesRequest } from '../../../../plugins/providers/anthropic/wire.ts'
import { expectParametersOn, namesIn, providerPage } from '../../../support/provider-page.ts'
import { translate } from './support.ts'

const TOOL = { type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } }
const SCHEMA = { type: 'object', properties: {}, additionalProperties: false }

/** Per mapped parameter: a request that uses it, and what of it must arrive. */
const ARRIVES: Readonly<Record<string, readonly [body: Record<string, unknown>, expected: Partial<MessagesRequest>]>> = {
  model: [{ model: 'claude/claude-opus-4-5' }, { model: 'claude-opus-4-5' }],
  messages: [
    { messages: [{ role: 'user', content: 'Hi' }] },
    { messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }] },
  ],
  stream: [{ stream: true }, { stream: true }],
  stream_options: [{ stream: true, stream_options: { include_usage: true } }, { stream: true }],
  max_tokens: [{ max_tokens: 9 }, { max_tokens: 9 }],
  max_completion_tokens: [{ max_completion_tokens: 9 }, { max_tokens: 9 }],
  temperature: [{ temperature: 0.5 }, { temperature: 0.5 }],
  top_p: [{ top_p: 0.5 }, { top_p: 0.5 }],
  stop: [{ stop: ['END'] }, { stop_sequences: ['END'] }],
  tools: [{ tools: [TOOL] }, { tools: [{ name: 'look', input_schema: { type: 'object', properties: {} } }] }],
  tool_choice: [{ tools: [TOOL], tool_choice: 'required' }, { tool_choice: { type: 'any' } }],
  parallel_tool_calls: [
    { tools: [TOOL], parallel_tool_calls: false },
    { tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
  ],
  response_format: [
    { response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: SCHEMA } } },
    { output_config: { format: { type: 'json_schema', schema: SCHEMA } } },
  ],
  reasoning_effort: [{ reasoning_effort: 'low', max_tokens: 10_000 }, { thinking: { type: 'enabled', budget_tokens: 2000 } }],
}

const named = (support: ParameterSupport['support']) =>
  Object.keys(parameters).filter((name) => parameters[name]?.support === support)

describe('anthropic: what becomes of each parameter', () => {
  for (const name of named('mapped')) {
    it(`${name} arrives`, async () => {
      const [body, expected] = ARRIVES[name]!
      const request = await translate(body)
      expect(request).to.deep.include(expected)
    })
  }

  it('what is refused says what to do instead', () => {
    for (const name of named('refused')) expect(parameters[name], name).to.have.property('why').that.matches(/\.$/)
  })

  it('the page lists every parameter with its support', () => {
    expectParametersOn(providerPage('anthropic'), parameters)
  })

  it('the page lists every option', () => {
    expect(namesIn(providerPage('anthropic'), 'option')).to.have.members(Object.keys((plugin.schema as TObject).properties))
  })
})
