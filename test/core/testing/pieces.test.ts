import { expect } from 'chai'
import { cut, FIN, hold, pieces, RST, type Step } from 'unified-model-gateway/plugin/testing'

const texts = (script: readonly Step[]): unknown[] => script.map((step) => (Buffer.isBuffer(step) ? step.toString() : step))

describe('A script in pieces', () => {
  it('is split after every n bytes, whatever the original writes', () => {
    expect(texts(pieces(['ab', 'cdefg', 'h'], 3))).to.deep.equal(['abc', 'def', 'gh'])
  })

  it('is split at the given offsets', () => {
    expect(texts(pieces(['abcd', 'efgh'], [1, 4, 6, 99]))).to.deep.equal(['a', 'bcd', 'ef', 'gh'])
  })

  it('is joined in one write when the size is Infinity', () => {
    expect(texts(pieces(['a', 'b', Buffer.from('c')], Infinity))).to.deep.equal(['abc'])
  })

  it('can be split within a character', () => {
    expect(pieces(['é'], 1)).to.deep.equal([Buffer.from([0xc3]), Buffer.from([0xa9])])
  })

  it('keeps holds and ends at their positions, and counts bytes across them', () => {
    const stalled = hold()
    expect(texts(pieces(['ab', stalled, 'cdef', RST], 4))).to.deep.equal(['ab', stalled, 'cd', 'ef', RST])
  })

  it('refuses a size below 1', () => {
    expect(() => pieces(['abc'], 0)).to.throw('pieces of 0 bytes are impossible')
    expect(() => pieces(['abc'], -1)).to.throw('pieces of -1 bytes are impossible')
  })
})

describe('A cut script', () => {
  it('ends the connection after n bytes', () => {
    expect(texts(cut(['abc', 'def', 'ghi'], 4, RST))).to.deep.equal(['abc', 'd', RST])
    expect(texts(cut(['abc', 'def'], 3))).to.deep.equal(['abc', FIN])
  })

  it('keeps the holds before the cut', () => {
    const stalled = hold()
    expect(texts(cut(['ab', stalled, 'cd'], 3))).to.deep.equal(['ab', stalled, 'c', FIN])
  })

  it('ends the connection after its last byte when it is shorter than the cut', () => {
    expect(texts(cut(['abc'], 10))).to.deep.equal(['abc', FIN])
  })
})
