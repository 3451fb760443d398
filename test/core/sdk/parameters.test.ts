import { expect } from 'chai'
import { modelFacts } from '../../../core/sdk/parameters.ts'

interface Facts {
  readonly maxTokens: number
  readonly sampling: boolean
}

const OTHERWISE: Facts = { maxTokens: 100, sampling: true }
const SHIPPED = { 'opus-5*': { maxTokens: 500, sampling: false }, 'opus-*': { maxTokens: 400 }, '*': { sampling: true } }

describe('what is known of a model', () => {
  it('is what the first fitting row says, fact by fact', () => {
    expect(modelFacts('opus-5-1', [SHIPPED], OTHERWISE)).to.deep.equal({ maxTokens: 500, sampling: false })
    expect(modelFacts('opus-4', [SHIPPED], OTHERWISE)).to.deep.equal({ maxTokens: 400, sampling: true })
  })

  it('is as of any model where no row speaks of it', () => {
    expect(modelFacts('haiku', [{}], OTHERWISE)).to.deep.equal(OTHERWISE)
  })

  it("is the operator's word before the shipped one", () => {
    const own = { 'opus-5-1': { sampling: true } }
    expect(modelFacts('opus-5-1', [own, SHIPPED], OTHERWISE)).to.deep.equal({ maxTokens: 500, sampling: true })
  })
})
