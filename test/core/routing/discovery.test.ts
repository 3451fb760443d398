import { mock } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { expect } from 'chai'
import { ModelDiscovery } from '../../../core/routing/discovery.ts'
import type { Provider } from '../../../core/sdk/api.ts'

describe('the discovery of models', () => {
  afterEach(() => mock.timers.reset())

  it('is over after five seconds, also if what it waits for does not observe the signal', async () => {
    mock.timers.enable({ apis: ['setTimeout', 'Date'] })
    const warnings: unknown[] = []
    const ignore = () => undefined
    const log = { debug: ignore, info: ignore, error: ignore, warn: (fields: unknown) => void warnings.push(fields) }
    const provider = { models: () => new Promise(() => undefined) } as unknown as Provider
    const listing = new ModelDiscovery([provider], log as never).models()
    mock.timers.tick(5_000)
    await turn()
    expect(await listing).to.deep.equal([])
    expect(String((warnings[0] as { err: unknown }).err)).to.contain('not done within 5000 ms')
  })

  it('lists at most 10,000 models, and only those with a name that can be read', async () => {
    const warnings: unknown[] = []
    const many = Array.from({ length: 200_000 }, (_, index) => ({ id: `m-${index}`, owned_by: 'o'.repeat(1000), more: 'x' }))
    const wrong = ['', 'x'.repeat(201), 'a\u202eb', 'a\nb', 'a\u200bb', ' a', 7, null, {}].map((id) => ({ id }))
    const provider = { models: async () => [...wrong, ...many] } as unknown as Provider
    const models = await new ModelDiscovery([provider], { warn: (fields: unknown) => warnings.push(fields) } as never).models()
    expect(models).to.have.length(10_000)
    expect(models[0]).to.deep.equal({ id: 'm-0' })
    expect(warnings).to.deep.equal([{ skipped: 190_000 + wrong.length, listed: 10_000 }])
  })
})
