import { expect } from 'chai'
import { missingInternals } from '../../core/internals.ts'

describe('what the gateway uses of Node and undici beyond their documentation', () => {
  it('is all there on this Node', () => {
    expect(missingInternals()).to.deep.equal([])
  })

  it('is missing if its probe finds that it has changed, or throws', () => {
    const probes = {
      there: () => true,
      changed: () => false,
      gone: () => {
        throw new TypeError('it is not a function')
      },
    }
    expect(missingInternals(probes)).to.deep.equal(['changed', 'gone'])
  })
})
