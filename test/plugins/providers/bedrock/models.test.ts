import { expect } from 'chai'
import { Value } from 'typebox/value'
import { Type } from 'unified-model-gateway/plugin'
import shipped from '../../../../plugins/providers/bedrock/models.json' with { type: 'json' }
import { Facts, factsOf, type ModelFacts } from '../../../../plugins/providers/bedrock/models.ts'
import { namesIn, providerPage } from '../../../support/provider-page.ts'

const CLAUDE: Partial<ModelFacts> = { caching: true, claudeToolChoice: true, maxTokens: 64_000, toolChoice: 'named' }
const ADAPTIVE: Partial<ModelFacts> = { ...CLAUDE, sampling: 'none', reasoning: 'adaptive', schemas: false, strictTools: false }
const BUDGET: Partial<ModelFacts> = { ...CLAUDE, sampling: 'one', reasoning: 'budget' }
const PLAIN: Partial<ModelFacts> = {
  sampling: 'both',
  reasoning: 'none',
  claudeToolChoice: false,
  schemas: false,
  shortToolIds: false,
}

/** What is known of models, by the ids that AWS gives them. */
const KNOWN: Readonly<Record<string, Partial<ModelFacts>>> = {
  'us.anthropic.claude-opus-5-5-v1': { ...ADAPTIVE, toolChoice: 'auto', reasoningOff: 'never', alwaysReasons: true },
  'global.anthropic.claude-sonnet-5-5': { ...ADAPTIVE, toolChoice: 'auto', reasoningOff: 'between_tools' },
  'us.anthropic.claude-opus-5-v1': { ...ADAPTIVE, reasoningOff: 'disabled', alwaysReasons: true, xhigh: true },
  'us.anthropic.claude-fable-5-v1': { ...ADAPTIVE, reasoningOff: 'never', alwaysReasons: true },
  'us.anthropic.claude-opus-4-7': { ...ADAPTIVE, alwaysReasons: false, xhigh: true },
  'us.anthropic.claude-sonnet-4-6': {
    ...ADAPTIVE,
    sampling: 'one',
    schemas: true,
    strictTools: true,
    alwaysReasons: false,
    xhigh: false,
  },
  'global.anthropic.claude-haiku-4-5-20251001-v1:0': { ...BUDGET, schemas: true, strictTools: true },
  'anthropic.claude-opus-4-1-20250805-v1:0': { ...BUDGET, claudeToolChoice: false, schemas: false, maxTokens: 32_000 },
  'us.anthropic.claude-sonnet-4-20250514-v1:0': { ...BUDGET, claudeToolChoice: false, schemas: false },
  'us.anthropic.claude-3-7-sonnet-20250219-v1:0': { ...BUDGET, claudeToolChoice: false },
  'anthropic.claude-3-5-sonnet-20241022-v2:0': { ...PLAIN, caching: true, toolChoice: 'named' },
  'anthropic.claude-3-haiku-20240307-v1:0': { ...PLAIN, caching: false, toolChoice: 'named' },
  'arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-opus-4-6-v1': {
    schemas: true,
    reasoning: 'adaptive',
  },
  'us.amazon.nova-2-lite-v1:0': { ...PLAIN, reasoning: 'nova', caching: true, toolChoice: 'named' },
  'amazon.nova-micro-v1:0': { ...PLAIN, caching: true, toolChoice: 'named' },
  'us.meta.llama3-3-70b-instruct-v1:0': { ...PLAIN, toolChoice: 'auto' },
  'mistral.mistral-large-2402-v1:0': { ...PLAIN, toolChoice: 'any', shortToolIds: true },
  'mistral.mistral-large-3-675b-instruct': { toolChoice: 'any', shortToolIds: true, schemas: true },
  'openai.gpt-oss-120b-1:0': { reasoning: 'effort', alwaysReasons: true, schemas: true, toolChoice: 'named' },
  'deepseek.v3-v1:0': { reasoning: 'effort', alwaysReasons: false, toolChoice: 'any' },
  'us.deepseek.r1-v1:0': { ...PLAIN, toolChoice: 'auto' },
  'someone.model-yet-to-come': { ...PLAIN, toolChoice: 'named', caching: false },
}

describe('bedrock: what is known of models', () => {
  for (const [model, facts] of Object.entries(KNOWN)) {
    it(model, () => expect(factsOf(model)).to.include(facts))
  }

  it('the data that ship are facts', () => {
    const table = Type.Record(Type.String(), Type.Partial(Facts, { additionalProperties: false }))
    expect([...Value.Errors(table, shipped)]).to.deep.equal([])
  })

  it('the page lists every fact', () => {
    expect(namesIn(providerPage('bedrock'), 'fact')).to.deep.equal(Object.keys(Facts.properties))
  })

  it('an operator’s row has the first word, of a model as of a profile whose name does not say what it is', () => {
    const profile = 'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/ab12cd34'
    const own = { '*/ab12cd34': { reasoning: 'budget', sampling: 'one' }, '*claude-opus-4-7*': { schemas: true } } as const
    expect(factsOf(profile, own)).to.include({ reasoning: 'budget', sampling: 'one', caching: false })
    expect(factsOf('us.anthropic.claude-opus-4-7', own)).to.include({ schemas: true, caching: true })
  })
})
