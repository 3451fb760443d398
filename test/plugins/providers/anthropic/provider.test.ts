import { expect } from 'chai'
import { Secret } from 'unified-model-gateway/plugin'
import { fakeCall } from '../../../support/fake-call.ts'
import { anthropic, send, upstream } from './support.ts'

describe('anthropic: the address of a call', () => {
  it('is the Messages API, with the key as a secret and a pinned version', async () => {
    const { origin, path, headers } = await upstream({})
    expect(origin + path).to.equal('https://api.anthropic.com/v1/messages')
    expect(headers['anthropic-version']).to.equal('2023-06-01')
    expect(headers['x-api-key']).to.be.instanceOf(Secret)
    expect((headers['x-api-key'] as Secret).reveal()).to.equal('sk-ant-very-secret')
  })

  it('does not contain the key in any printed form', async () => {
    expect(JSON.stringify(await upstream({}))).not.to.contain('very-secret')
  })

  it("keeps the call's headers, which cannot replace the key", async () => {
    const call = fakeCall({}, { headers: { 'user-agent': 'gateway', 'x-request-id': 'req_1', 'x-api-key': 'stolen' } })
    const { headers } = await send(call)
    expect(headers).to.include({ 'user-agent': 'gateway', 'x-request-id': 'req_1' })
    expect((headers['x-api-key'] as Secret).reveal()).to.equal('sk-ant-very-secret')
  })

  it('has the model without its namespace in the body', async () => {
    const { body } = await upstream({ model: 'claude/claude-sonnet-5' })
    expect(JSON.parse(String(body)).model).to.equal('claude-sonnet-5')
  })

  for (const [baseUrl, address] of [
    ['https://proxy.example.com', 'https://proxy.example.com/v1/messages'],
    ['https://proxy.example.com/', 'https://proxy.example.com/v1/messages'],
    ['https://api.anthropic.com/v1', 'https://api.anthropic.com/v1/messages'],
    ['http://127.0.0.1:8081/anthropic/v1/', 'http://127.0.0.1:8081/anthropic/v1/messages'],
  ]) {
    it(`is ${address} for baseUrl ${baseUrl}`, async () => {
      const { origin, path } = await upstream({}, { baseUrl })
      expect(origin + path).to.equal(address)
    })
  }

  it('refuses an invalid baseUrl, and says what to give instead', async () => {
    const failure = await anthropic({ baseUrl: 'https://' }).catch((error: unknown) => error)
    expect(String(failure)).to.contain('baseUrl must be an http or https URL: give the address before /v1/messages')
  })
})

describe('anthropic: max_tokens', () => {
  const lengthOf = async (body: object, config = {}) => JSON.parse(String((await upstream({ ...body }, config)).body)).max_tokens

  it("is the model's maximum by default", async () => {
    expect(await lengthOf({ model: 'claude/claude-haiku-4-5-20251001' })).to.equal(64_000)
    expect(await lengthOf({ model: 'claude/claude-opus-5' })).to.equal(128_000)
    expect(await lengthOf({ model: 'claude/claude-3-haiku-20240307' })).to.equal(4096)
    expect(await lengthOf({ model: 'claude/claude-quartet-9' })).to.equal(64_000)
    expect(await lengthOf({ model: 'claude/some-other-model' })).to.equal(4096)
  })

  it('can be configured', async () => {
    expect(await lengthOf({}, { maxTokens: 2000 })).to.equal(2000)
  })

  it('comes from the request first, max_completion_tokens before max_tokens', async () => {
    expect(await lengthOf({ max_tokens: 5 }, { maxTokens: 2000 })).to.equal(5)
    expect(await lengthOf({ max_tokens: 5, max_completion_tokens: 7 })).to.equal(7)
    expect(await lengthOf({ max_tokens: null, max_completion_tokens: null })).to.equal(64_000)
  })
})
