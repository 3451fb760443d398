import { expect } from 'chai'
import { upstream } from './support.ts'

async function sent(body: Readonly<Record<string, unknown>>) {
  const { body: text, dropped } = await upstream(body)
  return { request: JSON.parse(String(text)), dropped }
}

describe('anthropic: sampling', () => {
  it('a temperature above 1 is 1, where Anthropic ends', async () => {
    expect((await sent({ temperature: 1.7 })).request.temperature).to.equal(1)
    expect((await sent({ temperature: 0 })).request.temperature).to.equal(0)
  })

  it('beside a temperature top_p is left out, and said to be', async () => {
    const { request, dropped } = await sent({ temperature: 0.3, top_p: 0.9 })
    expect(request).to.include({ temperature: 0.3 })
    expect(request).not.to.have.property('top_p')
    expect(dropped).to.deep.equal(['top_p'])
  })

  it('the defaults that SDKs like to send change nothing and are not called dropped', async () => {
    for (const model of ['claude/claude-haiku-4-5', 'claude/claude-opus-5']) {
      const { request, dropped } = await sent({ model, temperature: 1, top_p: 1 })
      expect(request).not.to.have.any.keys('temperature', 'top_p')
      expect(dropped).to.deep.equal([])
    }
  })

  for (const model of [
    'claude-opus-4-7',
    'claude-opus-4-8',
    'claude-sonnet-5',
    'claude-opus-5',
    'claude-fable-5-1',
    'claude-sonnet-5-5',
    'claude-haiku-5-5',
    'claude-quartet-9',
    'anthropic.claude-opus-5',
  ]) {
    it(`${model}, which refuses them, gets none, and the client is told`, async () => {
      const { request, dropped } = await sent({ model: `claude/${model}`, temperature: 0.2, top_p: 0.9 })
      expect(request).not.to.have.any.keys('temperature', 'top_p')
      expect(dropped).to.deep.equal(['temperature', 'top_p'])
    })
  }
})

describe('anthropic: stop sequences', () => {
  it('a single one is a list of one', async () => {
    expect((await sent({ stop: 'END' })).request.stop_sequences).to.deep.equal(['END'])
  })

  it('blank ones, which Anthropic refuses, are left out, and said to be', async () => {
    const some = await sent({ stop: ['\n', 'END', ''] })
    expect(some.request.stop_sequences).to.deep.equal(['END'])
    expect(some.dropped).to.deep.equal(['stop'])
    const all = await sent({ stop: '\n\n' })
    expect(all.request).not.to.have.property('stop_sequences')
    expect(all.dropped).to.deep.equal(['stop'])
  })

  it('none are none', async () => {
    expect((await sent({ stop: null })).request).not.to.have.property('stop_sequences')
  })
})
