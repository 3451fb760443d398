import { expect } from 'chai'
import fc from 'fast-check'
import { matchesGlob } from '../../../core/text/glob.ts'

const MATCHES: readonly (readonly [glob: string, id: string])[] = [
  ['openai/gpt-5.5', 'openai/gpt-5.5'],
  ['*', 'anything/at/all'],
  ['*', ''],
  ['openai/*', 'openai/gpt-5.5'],
  ['openrouter/*', 'openrouter/meta-llama/llama-3'],
  ['*/gpt-5.5', 'azure/gpt-5.5'],
  ['o*/gpt-*-mini', 'openai/gpt-5-mini'],
  ['a**b', 'ab'],
  ['*ab*ab', 'abab'],
  ['a*a', 'aa'],
]

const MISSES: readonly (readonly [glob: string, id: string])[] = [
  ['openai/gpt-5.5', 'openai/gpt-5x5'],
  ['openai/gpt-5.5', 'openai/gpt-5.5-mini'],
  ['openai/gpt-5.5', 'xopenai/gpt-5.5'],
  ['openai/*', 'openai'],
  ['openai/*', 'azure/openai/x'],
  ['a*a', 'a'],
  ['*ab*ab', 'ab'],
  ['openai/gpt-?', 'openai/gpt-5'],
  ['OpenAI/*', 'openai/gpt-5'],
  ['', 'a'],
]

describe('a glob of model ids', () => {
  for (const [glob, id] of MATCHES)
    it(`${glob} matches ${JSON.stringify(id)}`, () => expect(matchesGlob(glob, id)).to.equal(true))
  for (const [glob, id] of MISSES)
    it(`${glob} does not match ${JSON.stringify(id)}`, () => expect(matchesGlob(glob, id)).to.equal(false))

  it('matches like the regular expression with .* in place of its stars', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '/', '*') })
    fc.assert(
      fc.property(text, text, (glob, id) => {
        const pattern = glob.split('*').join('.*')
        expect(matchesGlob(glob, id)).to.equal(new RegExp(`^${pattern}$`).test(id))
      }),
    )
  })
})
