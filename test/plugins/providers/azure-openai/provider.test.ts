import { expect } from 'chai'
import type { TObject } from 'typebox'
import { Secret, type UpstreamRequest } from 'unified-model-gateway/plugin'
import { testAttempt, testCall, testHost } from 'unified-model-gateway/plugin/testing'
import plugin from '../../../../plugins/providers/azure-openai/index.ts'
import { namesIn, providerPage } from '../../../support/provider-page.ts'
import { azure, upstream } from './azure.ts'

const VERSIONED = { apiVersion: '2024-10-21' }
const RESOURCE = 'https://acme.openai.azure.com/openai'

describe('azure-openai: the address of a call', () => {
  it('has the deployment in the body without a version', async () => {
    const { origin, path, body } = await upstream({})
    expect(origin + path).to.equal(`${RESOURCE}/v1/chat/completions`)
    expect(JSON.parse(String(body)).model).to.equal('gpt-5-in-sweden')
  })

  it('has the deployment in the path with a version', async () => {
    const { origin, path } = await upstream({}, VERSIONED)
    expect(origin + path).to.equal(`${RESOURCE}/deployments/gpt-5-in-sweden/chat/completions?api-version=2024-10-21`)
  })

  for (const baseUrl of [
    'https://acme.openai.azure.com/',
    'https://acme.openai.azure.com/openai',
    'https://acme.openai.azure.com/openai/v1/',
  ]) {
    it(`is the same for ${baseUrl}`, async () => {
      const { origin, path } = await upstream({}, { baseUrl })
      expect(origin + path).to.equal(`${RESOURCE}/v1/chat/completions`)
    })
  }

  it('keeps the path of a gateway in front of the resource', async () => {
    const { origin, path } = await upstream({}, { baseUrl: 'https://apim.example.com/acme/openai' })
    expect(origin + path).to.equal('https://apim.example.com/acme/openai/v1/chat/completions')
  })

  for (const model of ['..', '../x', 'a/b', 'a?b', 'a%2Fb', 'a b', 'é', '.hidden']) {
    it(`does not contain the invalid deployment ${model}`, async () => {
      const refusal: unknown = await upstream({ model: `azure/${model}` }, VERSIONED).catch((error: unknown) => error)
      expect(refusal).to.include({ status: 404, row: 'model_not_found' })
      expect(String(refusal)).to.contain(`azure/${model}`)
    })
  }

  it('refuses an invalid address, and says what to give instead', async () => {
    const failure = await azure({ baseUrl: 'https://acme.openai.azure.com/openai?api-version=1' }).catch(
      (error: unknown) => error,
    )
    expect(String(failure)).to.contain('baseUrl must have no query')
  })
})

describe('azure-openai: a chat completion by the Responses API', () => {
  const ask = (deployment: string, body: object = {}) => {
    const call = testCall({ model: `azure/${deployment}`, ...body })
    return { call, attempt: testAttempt(call) }
  }

  for (const [config, address] of [
    [{}, `${RESOURCE}/v1/responses`],
    [VERSIONED, `${RESOURCE}/responses?api-version=2024-10-21`],
  ] as const) {
    it(`has the address ${address}`, async () => {
      const { call, attempt } = ask('gpt-5-in-sweden')
      const operation = (await azure({ ...config, api: 'responses' })).chatBy!(call, attempt.model)!
      const { origin, path, body } = (await operation.request(call, attempt)) as UpstreamRequest
      expect(origin + path).to.equal(address)
      expect(JSON.parse(String(body))).to.deep.include({ model: 'gpt-5-in-sweden', store: false })
    })
  }

  it('is made of calls that the deployment has refused otherwise', async () => {
    const { chatBy } = await azure()
    const { call, attempt } = ask('mine', { tools: [{ type: 'function', function: { name: 'look' } }] })
    expect(chatBy!(call, attempt.model)).to.equal(undefined)
    expect(chatBy!(call, attempt.model, { status: 400, message: 'Unsupported value.' })).to.equal(undefined)
    const refused = { status: 400, message: 'To use function tools, use /v1/responses.' }
    expect(chatBy!(call, attempt.model, refused)).not.to.equal(undefined)
    expect(chatBy!(call, attempt.model)).not.to.equal(undefined)
    expect(chatBy!(ask('other').call, 'other')).to.equal(undefined)
  })
})

describe('azure-openai: other endpoints', () => {
  for (const [endpoint, config, address] of [
    ['embeddings', {}, `${RESOURCE}/v1/embeddings`],
    ['embeddings', VERSIONED, `${RESOURCE}/deployments/small/embeddings?api-version=2024-10-21`],
    ['responses', {}, `${RESOURCE}/v1/responses`],
    ['completions', {}, `${RESOURCE}/v1/completions`],
    ['images.generations', VERSIONED, `${RESOURCE}/deployments/small/images/generations?api-version=2024-10-21`],
    ['audio.speech', VERSIONED, `${RESOURCE}/deployments/small/audio/speech?api-version=2024-10-21`],
    ['responses', VERSIONED, `${RESOURCE}/responses?api-version=2024-10-21`],
  ] as const) {
    it(`${endpoint} ${'apiVersion' in config ? 'with' : 'without'} a version have the address ${address}`, async () => {
      const call = testCall({ model: 'azure/small', input: 'Hello' })
      const { request } = (await azure(config)).endpoints![endpoint]!
      const { origin, path, headers, body } = (await request(call, testAttempt(call))) as UpstreamRequest
      expect(origin + path).to.equal(address)
      expect(headers['api-key']).to.be.instanceOf(Secret)
      expect(JSON.parse(String(body))).to.include({ model: 'small', input: 'Hello' })
    })
  }
})

describe('azure-openai: a request', () => {
  it("has the client's own bytes, including large numbers and unknown fields", async () => {
    const { body } = await upstream({ seed: 7, top_k: 3, user_security_context: { application_name: 'a' } })
    const expected = { seed: 7, top_k: 3, user_security_context: { application_name: 'a' } }
    expect(JSON.parse(String(body))).to.deep.include(expected)
  })

  it("cannot make Azure search the operator's stores, unless the operator allows it", async () => {
    const searching = { data_sources: [{ type: 'azure_search' }] }
    expect(await upstream(searching).catch((error: unknown) => error)).to.include({
      code: 'unsupported_parameter',
      param: 'data_sources',
    })
    const { body } = await upstream(searching, { allow: ['data_sources'] })
    expect(JSON.parse(String(body))).to.deep.include(searching)
  })

  it('of a stream requests usage', async () => {
    expect(JSON.parse(String((await upstream({ stream: true })).body)).stream_options).to.deep.equal({ include_usage: true })
  })

  it('has the key in the api-key header, as a secret', async () => {
    const { headers, ...rest } = await upstream({})
    expect((headers['api-key'] as Secret).reveal()).to.equal('azure-very-secret')
    expect(headers).not.to.have.property('authorization')
    expect(JSON.stringify({ headers, ...rest })).not.to.contain('very-secret')
  })
})

describe('azure-openai: the check', () => {
  for (const [config, address] of [
    [{}, `${RESOURCE}/v1/models`],
    [VERSIONED, `${RESOURCE}/models?api-version=2024-10-21`],
  ] as const) {
    it(`requests ${address} with the credential`, async () => {
      const asked: unknown[] = []
      const host = testHost({
        async getJson(url, { headers }) {
          asked.push([url, (headers['api-key'] as Secret).reveal()])
          return { data: [] }
        },
      })
      const baseUrl = 'https://acme.openai.azure.com'
      const provider = await plugin.create({ baseUrl, apiKey: new Secret('azure-very-secret'), ...config }, host)
      await provider.check!(new AbortController().signal)
      expect(asked).to.deep.equal([[address, 'azure-very-secret']])
    })
  }
})

describe('azure-openai: the page', () => {
  it('lists every option', () => {
    expect(namesIn(providerPage('azure-openai'), 'option')).to.have.members(Object.keys((plugin.schema as TObject).properties))
  })
})
