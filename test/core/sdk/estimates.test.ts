import { expect } from 'chai'
import { answerEstimate } from '../../../core/sdk/estimates.ts'

describe('the tokens of a picture that a model draws', () => {
  const tokensOf = (quality?: string): number => {
    const body: Readonly<Record<string, unknown>> = { prompt: 'p', quality }
    const call = { endpoint: 'images.generations', member: (name: string) => body[name], size: 100 } as const
    return answerEstimate(call, Number.POSITIVE_INFINITY)
  }

  it('are enough for the largest picture, with previews', () => {
    expect(tokensOf('high')).to.be.within(12_329 + 300, 1_000_000)
  })

  it('are the most if the model chooses the quality, or if nothing is known of it', () => {
    for (const quality of [undefined, 'auto', 'max']) expect(tokensOf(quality)).to.be.above(tokensOf('high'))
  })
})
