import { expect } from 'chai'
import { Secret } from 'unified-model-gateway/plugin'
import { createProvider } from 'unified-model-gateway/plugin/testing'
import plugin from '../../../../plugins/providers/anthropic/index.ts'
import shipped from '../../../../plugins/providers/anthropic/models.json' with { type: 'json' }
import { Facts } from '../../../../plugins/providers/anthropic/models.ts'
import { namesIn, providerPage } from '../../../support/provider-page.ts'
import { upstream } from './support.ts'

const configured = (facts: unknown) => createProvider(plugin, { apiKey: new Secret('sk-ant-very-secret'), facts })

async function sent(body: Readonly<Record<string, unknown>>, facts: object) {
  const { body: text } = await upstream({ model: 'claude/claude-quartet-9', ...body }, { facts })
  return JSON.parse(String(text))
}

describe('anthropic: the facts of models', () => {
  it('that ship could stand in routes.yaml', () => configured(shipped))

  it('are taken from the operator first, one by one', async () => {
    const facts = {
      'claude-quartet-*': { sampling: true, alwaysThinks: false, maxTokens: 2000 },
      'claude-*': { maxTokens: 3000 },
    }
    expect(await sent({ temperature: 0.5 }, facts)).to.include({ temperature: 0.5, max_tokens: 2000 })
    const other = await sent({ model: 'claude/claude-opus-4-8', temperature: 0.5 }, facts)
    expect(other).to.include({ max_tokens: 3000 }).and.not.have.property('temperature')
  })

  for (const [fact, value, body, expected] of [
    [
      'structuredOutputs',
      false,
      { tools: [{ type: 'function', function: { name: 'x', strict: true } }] },
      { tools: [{ name: 'x', input_schema: { type: 'object', properties: {} } }] },
    ],
    [
      'thinking',
      'budget',
      { reasoning_effort: 'medium', max_tokens: 4000 },
      { thinking: { type: 'enabled', budget_tokens: 2000 } },
    ],
    ['alwaysThinks', false, { reasoning_effort: 'none' }, { output_config: { effort: 'low' } }],
    ['thinkingOff', 'disabled', { reasoning_effort: 'none' }, { thinking: { type: 'disabled' } }],
    ['xhigh', false, { reasoning_effort: 'xhigh' }, { output_config: { effort: 'high' } }],
  ] as const) {
    it(`${fact} decides what is sent`, async () => {
      expect(await sent(body, { '*': { [fact]: value } })).to.deep.include(expected)
    })
  }

  it('forcedTools decides what is refused', async () => {
    const body = { tools: [{ type: 'function', function: { name: 'x' } }], tool_choice: 'required' }
    expect((await sent(body, {})).tool_choice).to.deep.equal({ type: 'any' })
    const refusal: unknown = await sent(body, { '*': { forcedTools: false } }).catch((error: unknown) => error)
    expect(refusal).to.include({ code: 'unsupported_parameter', param: 'tool_choice' })
  })

  for (const [what, facts] of [
    ['a fact nobody knows', { 'claude-*': { temperature: true } }],
    ['a way to think that nobody knows', { 'claude-*': { thinking: 'hard' } }],
    ['no token', { 'claude-*': { maxTokens: 0 } }],
  ] as const) {
    it(`${what} is refused when the table is loaded`, async () => {
      const failure = await configured(facts).catch((error: unknown) => error)
      expect(String(failure)).to.contain('the config of anthropic/facts/claude-*')
    })
  }

  it('are on the page, each of them', () => {
    expect(namesIn(providerPage('anthropic'), 'fact')).to.have.members(Object.keys(Facts.properties))
  })
})
