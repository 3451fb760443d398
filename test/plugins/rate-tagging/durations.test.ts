import { expect } from 'chai'
import { goDuration } from '../../../plugins/chain/rate-tagging/replies.ts'

describe('a duration in the format of OpenAI', () => {
  const said: readonly (readonly [ms: number, text: string])[] = [
    [0, '0s'],
    [0.2, '1ms'],
    [12, '12ms'],
    [1000, '1s'],
    [1798, '1.798s'],
    [59_999.5, '1m0s'],
    [360_000, '6m0s'],
    [90_500, '1m30.5s'],
    [3_600_000, '1h0m0s'],
    [86_400_000, '24h0m0s'],
  ]
  for (const [ms, text] of said) it(`of ${ms} ms is ${text}`, () => expect(goDuration(ms)).to.equal(text))
})
