import { expect } from 'chai'
import { builtinNames } from '../../../core/plugins/registry.ts'
import { readSources } from '../../support/sources.ts'

const TESTS = readSources('test/**/*.test.ts')

describe('every provider that comes with the gateway', () => {
  it('goes through the suite of describeProvider', async () => {
    const described = TESTS.filter(({ code }) => /\bdescribeProvider\(/.test(code)).flatMap(({ inner }) => inner)
    const names = await builtinNames('provider')
    expect(names.filter((name) => !described.includes(`plugins/providers/${name}/index.ts`))).to.deep.equal([])
  })
})
