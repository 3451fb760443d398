import { expect } from 'chai'
import { builtinNames } from '../../../core/plugins/registry.ts'
import { readSources } from '../../support/sources.ts'

const TESTS = readSources('test/**/*.test.ts')

describe('Every built-in provider', () => {
  it('is tested by describeProvider', async () => {
    const described = TESTS.filter(({ code }) => /\bdescribeProvider\(/.test(code)).flatMap(({ inner }) => inner)
    const names = await builtinNames('provider')
    expect(names.filter((name) => !described.includes(`plugins/providers/${name}/index.ts`))).to.deep.equal([])
  })
})
