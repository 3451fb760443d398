import { expect } from 'chai'
import type { ProviderPlugin } from 'unified-model-gateway/plugin'
import { createProvider } from 'unified-model-gateway/plugin/testing'
import { builtinNames } from '../../../core/plugins/registry.ts'
import { CONFIGS } from '../../../docs/generate/providers.ts'
import { readSources } from '../../support/sources.ts'

const TESTS = readSources('test/**/*.test.ts')

/** URLs with parts that would be ignored, and the error for each. */
const WRONG_ADDRESSES = {
  'https://me:hunter2@llm.example': 'must hold no credentials',
  'https://hunter2@llm.example': 'must hold no credentials',
  'https://llm.example/a?key=hunter2': 'must have no query and no fragment',
  'https://llm.example/a#hunter2': 'must have no query and no fragment',
  'https://': 'must be an http or https URL',
}

describe('Every built-in provider', () => {
  it('is tested by describeProvider', async () => {
    const described = TESTS.filter(({ code }) => /\bdescribeProvider\(/.test(code)).flatMap(({ inner }) => inner)
    const names = await builtinNames('provider')
    expect(names.filter((name) => !described.includes(`plugins/providers/${name}/index.ts`))).to.deep.equal([])
  })

  for (const [name, config] of Object.entries(CONFIGS)) {
    it(`refuses a base URL with parts that it would ignore, without quoting it: ${name}`, async () => {
      const { default: plugin }: { readonly default: ProviderPlugin } = await import(
        `../../../plugins/providers/${name}/index.ts`
      )
      const fields = Object.keys((plugin.schema as { readonly properties?: object }).properties ?? {})
      for (const field of fields.filter((one) => /Url$/.test(one))) {
        for (const [address, words] of Object.entries(WRONG_ADDRESSES)) {
          const failure: unknown = await createProvider(plugin, { ...config, [field]: address }).catch((error: unknown) => error)
          expect(failure, address).to.be.instanceOf(Error)
          expect((failure as Error).message, address)
            .to.contain(`${field} ${words}`)
            .and.not.contain('hunter2')
        }
      }
    })
  }
})
