import { expect } from 'chai'
import { refusalOf, translate, upstream } from './support.ts'

const PLAIN = 'command-a-03-2025'

describe('cohere: how much a model thinks', () => {
  for (const [effort, thinking] of [
    ['none', { type: 'disabled' }],
    ['minimal', { type: 'enabled', token_budget: 1000 }],
    ['low', { type: 'enabled', token_budget: 2000 }],
    ['medium', { type: 'enabled', token_budget: 5000 }],
    ['high', { type: 'enabled', token_budget: 8000 }],
    ['xhigh', { type: 'enabled' }],
    ['max', { type: 'enabled' }],
  ] as const) {
    it(`${effort} of 10 000 tokens`, async () => {
      expect((await translate({ reasoning_effort: effort, max_tokens: 10_000 })).thinking).to.deep.equal(thinking)
    })
  }

  it('where nothing is asked, nothing is said', async () => expect(await translate({})).not.to.have.property('thinking'))

  it('without max_tokens it is a share of what the model may write at most', async () => {
    const { thinking } = await translate({ reasoning_effort: 'medium' })
    expect(thinking).to.deep.equal({ type: 'enabled', token_budget: 32_000 })
    const own = await translate({ model: 'm', reasoning_effort: 'medium' }, { facts: { m: { maxTokens: 100 } } })
    expect(own.thinking).to.have.property('token_budget', 50)
  })

  it('of next to nothing it is one token', async () => {
    expect((await translate({ reasoning_effort: 'low', max_tokens: 2 })).thinking).to.have.property('token_budget', 1)
  })

  it('a model that does not think is not told to: the reply says that it was dropped', async () => {
    const { body, dropped } = await upstream({ model: PLAIN, reasoning_effort: 'low' })
    expect(JSON.parse(String(body))).not.to.have.property('thinking')
    expect(dropped).to.deep.equal(['reasoning_effort'])
  })

  it('a model that does not think already does not', async () => {
    const { body, dropped } = await upstream({ model: PLAIN, reasoning_effort: 'none' })
    expect(JSON.parse(String(body))).not.to.have.property('thinking')
    expect(dropped).to.deep.equal([])
  })

  it('an effort that nobody knows is refused', async () => {
    expect(await refusalOf({ reasoning_effort: 'utmost' })).to.contain('expected one of none, minimal, low')
  })
})
