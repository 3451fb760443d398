import { expect } from 'chai'
import { Secret } from 'unified-model-gateway/plugin'
import shipped from '../../../../plugins/providers/gemini/models.json' with { type: 'json' }
import { gemini, refusalOf, upstream } from './gemini.ts'

const GOOGLE = 'https://generativelanguage.googleapis.com/v1beta/models'

describe('gemini: the address of a call', () => {
  it('has the model without its namespace', async () => {
    const { origin, path } = await upstream({ model: 'google/gemini-2.5-pro' })
    expect(origin + path).to.equal(`${GOOGLE}/gemini-2.5-pro:generateContent`)
  })

  it('has another method for streams, with SSE', async () => {
    const { origin, path } = await upstream({ model: 'google/gemini-2.5-pro', stream: true })
    expect(origin + path).to.equal(`${GOOGLE}/gemini-2.5-pro:streamGenerateContent?alt=sse`)
  })

  it("takes the name in Google's list of models", async () => {
    const { path } = await upstream({ model: 'google/models/gemma-4-31b-it' })
    expect(path).to.equal('/v1beta/models/gemma-4-31b-it:generateContent')
  })

  for (const model of ['../x', '..', 'a/b', 'a:countTokens', 'a?key=x', 'a%2Fb', 'a b', 'models/', 'é']) {
    it(`does not contain the invalid model ${model}`, async () => {
      expect(await refusalOf({ model: `google/${model}` })).to.include({ status: 404, row: 'model_not_found' })
    })
  }

  it('does not contain the key: it is a secret in a header', async () => {
    const { origin, path, headers, body } = await upstream({})
    expect(headers['x-goog-api-key']).to.be.instanceOf(Secret)
    expect((headers['x-goog-api-key'] as Secret).reveal()).to.equal('AIza-very-secret')
    expect(JSON.stringify({ origin, path, headers, body })).not.to.contain('very-secret')
  })

  for (const [baseUrl, address] of [
    ['https://proxy.example.com', 'https://proxy.example.com/v1beta/models'],
    ['https://proxy.example.com/google/', 'https://proxy.example.com/google/v1beta/models'],
    ['https://proxy.example.com/v1', 'https://proxy.example.com/v1/models'],
    ['http://127.0.0.1:8081/v1alpha/', 'http://127.0.0.1:8081/v1alpha/models'],
  ]) {
    it(`is ${address} for baseUrl ${baseUrl}`, async () => {
      const { origin, path } = await upstream({ model: 'google/a' }, { baseUrl })
      expect(origin + path).to.equal(`${address}/a:generateContent`)
    })
  }

  it('refuses an invalid baseUrl, and says what to give instead', async () => {
    const failure = await gemini({ baseUrl: 'https://' }).catch((error: unknown) => error)
    expect(String(failure)).to.contain('baseUrl must be an http or https URL: give the address before /models')
  })
})

describe('gemini: facts about models', () => {
  it('in models.json match the schema of routes.yaml', async () => {
    await gemini({ facts: shipped })
  })

  for (const [what, facts] of [
    ['an unknown fact', { 'gemini-*': { temperature: true } }],
    ['an unknown level', { 'gemini-*': { levels: ['EXTREME'] } }],
    ['no level', { 'gemini-*': { levels: [] } }],
    ['an unknown kind of thinking', { 'gemini-*': { thinking: 'hard' } }],
  ] as const) {
    it(`cannot be configured with ${what}`, async () => {
      const failure = await gemini({ facts }).catch((error: unknown) => error)
      expect(String(failure)).to.contain('the config of gemini/facts/gemini-*')
    })
  }
})
