import { expect } from 'chai'
import { chunk, KeptText, toTokenLogprob } from 'unified-model-gateway/plugin'

describe('chunk.fromText', () => {
  it('makes a chunk of a text', () => {
    expect(chunk.fromText(chunk.content, 'Hel')).to.deep.equal([chunk.content('Hel')])
  })

  it('makes no chunk of an empty text, and throws for anything else', () => {
    for (const value of ['', undefined, null]) expect(chunk.fromText(chunk.content, value)).to.deep.equal([])
    for (const value of [7, {}, ['Hel']]) expect(() => chunk.fromText(chunk.content, value)).to.throw('a text')
  })
})

describe('KeptText', () => {
  it('returns texts, and fails above its limit', () => {
    const kept = new KeptText()
    expect(kept.add('a')).to.equal('a')
    expect(kept.add(7)).to.equal('')
    kept.add('b'.repeat(8_000_000 - 1))
    expect(() => kept.add('c')).to.throw('more than 8000000 characters')
  })
})

describe('toTokenLogprob', () => {
  it('adds the bytes of a token', () => {
    expect(toTokenLogprob('é', -0.5)).to.deep.equal({ token: 'é', logprob: -0.5, bytes: [0xc3, 0xa9] })
  })

  it('is very unlikely without a number', () => {
    expect(toTokenLogprob(undefined, null)).to.deep.equal({ token: '', logprob: -9999, bytes: [] })
  })
})
