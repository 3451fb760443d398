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
})
