import fc from 'fast-check'
import { countWords, splitWords } from '../../../../plugins/providers/sandbox/words.ts'

const text = fc.string({ unit: fc.constantFrom('a', 'é', '世', '😀', ' ', '\n', '\u00a0', '\u2003', '\ufeff', ',', ':') })

describe('sandbox: words', () => {
  it('joined are the text', () => {
    fc.assert(fc.property(text, (written) => splitWords(written).join('') === written))
  })

  it('are as many as are counted', () => {
    fc.assert(
      fc.property(text, (written) => countWords(written) === splitWords(written).length),
      { numRuns: 1000 },
    )
  })
})
