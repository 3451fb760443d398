import { expect } from 'chai'
import type { TObject } from 'typebox'
import { Secret, type UpstreamRequest } from 'unified-model-gateway/plugin'
import { type PluginConfig, testAttempt, testCall } from 'unified-model-gateway/plugin/testing'
import plugin from '../../../../plugins/providers/cohere/index.ts'
import { namesIn, providerPage } from '../../../support/provider-page.ts'
import { cohere, upstream } from './support.ts'

const failureOf = async (config: PluginConfig) => String(await cohere(config).catch((error: unknown) => error))

describe('cohere: the address of a call', () => {
  for (const [baseUrl, address] of [
    [undefined, 'https://api.cohere.com/v2/chat'],
    ['https://api.cohere.com/v2', 'https://api.cohere.com/v2/chat'],
    ['https://api.cohere.com/v1/', 'https://api.cohere.com/v2/chat'],
    ['http://127.0.0.1:8081/north/', 'http://127.0.0.1:8081/north/v2/chat'],
  ]) {
    it(`has the baseUrl ${baseUrl}`, async () => {
      const { origin, path } = await upstream({}, { baseUrl })
      expect(origin + path).to.equal(address)
    })
  }

  it('refuses an invalid baseUrl, and says what to give instead', async () => {
    expect(await failureOf({ baseUrl: 'https://' })).to.contain(
      'baseUrl must be an http or https URL: give the address before /v2/chat',
    )
    expect(await failureOf({ baseUrl: 'api.cohere.com' })).to.contain('baseUrl')
  })
})

describe('cohere: credentials', () => {
  it('the key is a bearer token, and not in any printed form', async () => {
    const request = await upstream({})
    expect((request.headers.authorization as Secret).reveal()).to.equal('Bearer cohere-api-key-of-test')
    expect(JSON.stringify(request)).not.to.include('cohere-api-key')
  })

  it("the call's headers are kept, and cannot replace it", async () => {
    const call = testCall({})
    Object.defineProperty(call, 'headers', { value: { ...call.headers, 'x-client-name': 'c', authorization: 'Bearer stolen' } })
    const { headers } = (await (await cohere()).request(call, testAttempt(call))) as UpstreamRequest
    expect(headers).to.include({ 'x-client-name': 'c' })
    expect(headers.authorization).to.be.instanceOf(Secret)
  })
})

describe('cohere: the docs page', () => {
  it('lists every option', () => {
    expect(namesIn(providerPage('cohere'), 'option')).to.have.members(Object.keys((plugin.schema as TObject).properties))
  })
})
