import { expect } from 'chai'
import { Value } from 'typebox/value'
import { Type } from 'unified-model-gateway/plugin'
import shipped from '../../../../plugins/providers/cohere/models.json' with { type: 'json' }
import { Facts, factsOf, type ModelFacts } from '../../../../plugins/providers/cohere/models.ts'
import { namesIn, providerPage } from '../../../support/provider-page.ts'

/** What is known of models, by the names that Cohere gives them. */
const KNOWN: Readonly<Record<string, ModelFacts>> = {
  'command-a-plus-05-2026': { thinking: true, toolChoice: true, maxTokens: 64_000 },
  'command-a-reasoning-08-2025': { thinking: true, toolChoice: true, maxTokens: 32_000 },
  'command-a-vision-07-2025': { thinking: false, toolChoice: true, maxTokens: 8000 },
  'command-a-03-2025': { thinking: false, toolChoice: true, maxTokens: 8000 },
  'command-r7b-12-2024': { thinking: false, toolChoice: true, maxTokens: 4000 },
  'command-r-plus-08-2024': { thinking: false, toolChoice: false, maxTokens: 4000 },
  'c4ai-aya-expanse-32b': { thinking: false, toolChoice: false, maxTokens: 4000 },
  'a-model-yet-to-come': { thinking: true, toolChoice: true, maxTokens: 32_000 },
}

describe('cohere: what is known of models', () => {
  for (const [model, facts] of Object.entries(KNOWN)) {
    it(model, () => expect(factsOf(model)).to.deep.equal(facts))
  }

  it('the data that ship are facts', () => {
    const table = Type.Record(Type.String(), Type.Partial(Facts, { additionalProperties: false }))
    expect([...Value.Errors(table, shipped)]).to.deep.equal([])
  })

  it('the page lists every fact', () => {
    expect(namesIn(providerPage('cohere'), 'fact')).to.deep.equal(Object.keys(Facts.properties))
  })

  it('an operator’s row has the first word', () => {
    expect(factsOf('command-a-03-2025', { 'command-*': { thinking: true } })).to.include({ thinking: true, maxTokens: 8000 })
  })
})
