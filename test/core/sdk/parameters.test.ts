import { expect } from 'chai'
import { modelFacts } from 'unified-model-gateway/plugin'

interface Facts {
  readonly maxTokens: number
  readonly sampling: boolean
}

const OTHERWISE: Facts = { maxTokens: 100, sampling: true }
const SHIPPED = { 'opus-5*': { maxTokens: 500, sampling: false }, 'opus-*': { maxTokens: 400 }, '*': { sampling: true } }

describe('modelFacts', () => {
  it('takes each fact from the first matching row that has it', () => {
    expect(modelFacts('opus-5-1', [SHIPPED], OTHERWISE)).to.deep.equal({ maxTokens: 500, sampling: false })
    expect(modelFacts('opus-4', [SHIPPED], OTHERWISE)).to.deep.equal({ maxTokens: 400, sampling: true })
  })

  it('takes facts without a row from the default', () => {
    expect(modelFacts('haiku', [{}], OTHERWISE)).to.deep.equal(OTHERWISE)
  })

  it('takes facts from the first table that has them', () => {
    const own = { 'opus-5-1': { sampling: true } }
    expect(modelFacts('opus-5-1', [own, SHIPPED], OTHERWISE)).to.deep.equal({ maxTokens: 500, sampling: true })
  })
})
