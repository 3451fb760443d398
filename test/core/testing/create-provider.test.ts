import { expect } from 'chai'
import { defineProvider, Secret, secret, Type } from 'unified-model-gateway/plugin'
import { createProvider, testCall, testHost } from 'unified-model-gateway/plugin/testing'

let made: { readonly token: Secret; readonly tries: number }

const plugin = defineProvider({
  apiVersion: 1,
  name: 'acme',
  schema: Type.Object(
    { token: secret({ description: 'A token.' }), tries: Type.Integer({ default: 3 }) },
    { additionalProperties: false },
  ),
  create(config) {
    made = config
    if (config.tries > 9) throw new Error('tries: nine are enough')
    return { parameters: 'verbatim', request: () => ({ status: 200, body: [] }) }
  },
})

const failure = (config: object) => createProvider(plugin, { token: new Secret('t'), ...config }).catch(String)

describe('createProvider', () => {
  it('passes create the defaults and the credentials as secrets', async () => {
    await createProvider(plugin, { token: new Secret('t') })
    expect(made.tries).to.equal(3)
    expect(made.token).to.be.instanceOf(Secret)
    expect(made.token.reveal()).to.equal('t')
  })

  it('refuses an invalid configuration', async () => {
    expect(await failure({ tires: 3 })).to.match(/acme.*additional properties/)
    expect(await failure({ tries: 'x' })).to.match(/acme\/tries must be integer/)
    expect(await failure({ tries: 10 })).to.contain('tries: nine are enough')
  })
})

describe('testHost', () => {
  it('keeps limits, runs functions, and takes overrides', async () => {
    const host = testHost({ countTokens: async () => 42 })
    expect(await host.countTokens(testCall())).to.equal(42)
    expect(await host.keys.verify('sk-live-x')).to.equal(undefined)
    const module = new URL('data:text/javascript,export const double = (n) => 2 * n')
    expect(await host.offload(module, 'double', 21)).to.equal(42)
    const limits = { requests: { amount: 1, window: { kind: 'fixed' as const, ms: 60_000 } } }
    expect(await host.limits.reserve([{ subject: 'me', limits }], 0)).to.not.have.property('refusedBy')
    expect(await host.limits.reserve([{ subject: 'me', limits }], 0)).to.include({ refusedBy: 'requests' })
  })
})

describe('testCall', () => {
  it('validates its body as the gateway does', () => {
    const call = testCall({ model: 'acme/a/b', stream: true, stream_options: { include_usage: true }, n: 2 })
    expect(call.model).to.deep.equal({ id: 'acme/a/b', namespace: 'acme', model: 'a/b' })
    expect(call).to.include({ stream: true, includeUsage: true, choices: 2 })
    expect(() => testCall({ temperature: 'hot' })).to.throw("Invalid type for 'temperature'")
  })
})
