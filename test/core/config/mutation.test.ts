import { expect } from 'chai'
import { loadConfig } from '../../../core/config/load.ts'
import { ConfigError, type Diagnostic } from '../../../core/text/diagnostic.ts'
import { FULL_CONFIG, FULL_ENV } from './full-config.ts'
import { misspellings, replaceTokens, tokensOf } from './mutations.ts'
import { type TemporaryFolder, temporaryFolder } from './temporary-folder.ts'

/** The keys of the schema, and all scalar values, each with its position. */
const { keys, scalars } = tokensOf(FULL_CONFIG)

const REFERENCES: Readonly<Record<string, { readonly broken: string; readonly meant: string }>> = {
  '[east, west]': { broken: '[esat, west]', meant: 'east' },
  'model: east/large': { broken: 'model: eest/large', meant: 'east' },
  'model: east/small-1': { broken: 'model: east/smll-1', meant: 'small-*' },
  'model: west/qwen3': { broken: 'model: wst/qwen3', meant: 'west' },
  '[acme/spare, west/mistral]': { broken: '[acme/spre, west/mistral]', meant: 'spare' },
  'gpt-4o: east': { broken: 'gpt-4o: esat', meant: 'east' },
  'gpt-4o: east/large': { broken: 'gpt-4o: east/lrge', meant: 'large' },
  '"east/*"': { broken: '"eats/*"', meant: 'east' },
  'acme/smart:': { broken: 'acme/smrat:', meant: 'smart' },
  'to: east/large': { broken: 'to: east/lrge', meant: 'large' },
  'east: 5xx': { broken: 'esat: 5xx', meant: 'east' },
  'west/qwen3: timeout': { broken: 'wst/qwen3: timeout', meant: 'west' },
  'to: west/mistral': { broken: 'to: upstream_timout', meant: 'upstream_timeout' },
}

describe('a full routes.yaml', () => {
  let folder: TemporaryFolder

  before(() => {
    folder = temporaryFolder()
    folder.write('west.txt', 'value-of-the-file\n')
  })

  after(() => folder?.remove())

  async function diagnose(text: string): Promise<readonly Diagnostic[]> {
    try {
      await loadConfig(folder.write('routes.yaml', text), FULL_ENV)
      return []
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      return error.diagnostics
    }
  }

  it('is valid', async () => {
    expect(await diagnose(FULL_CONFIG)).to.deep.equal([])
  })

  for (const key of keys) {
    it(`reports "${key.text}" misspelt on line ${key.line} there, and only there`, async () => {
      for (const misspelt of misspellings(key.text)) {
        const [first, ...others] = await diagnose(replaceTokens(FULL_CONFIG, [key, misspelt]))
        expect(first).to.include({ line: key.line, column: key.column })
        expect(first?.message).to.contain(`unknown field "${misspelt}"`).and.contain(`did you mean "${key.text}"?`)
        expect(others.map(({ message }) => message)).to.deep.equal([])
      }
    })
  }

  for (const scalar of scalars) {
    it(`reports a map in place of "${scalar.text}" on line ${scalar.line}`, async () => {
      const diagnostics = await diagnose(replaceTokens(FULL_CONFIG, [scalar, '{}']))
      expect(diagnostics[0]).to.include({ line: scalar.line, column: scalar.column })
    })
  }

  it('reports maps in place of all scalars at once', async () => {
    const values = scalars.filter(({ text }) => !text.endsWith('.ts'))
    const diagnostics = await diagnose(replaceTokens(FULL_CONFIG, ...values.map((value) => [value, '{}'] as const)))
    expect(diagnostics.map(({ line }) => line)).to.include.members(values.map(({ line }) => line))
  })

  for (const [written, { broken, meant }] of Object.entries(REFERENCES)) {
    it(`reports ${broken} in place of ${written}, and suggests the name`, async () => {
      const diagnostics = await diagnose(FULL_CONFIG.replace(written, broken))
      const line = FULL_CONFIG.slice(0, FULL_CONFIG.indexOf(written)).split('\n').length
      expect(diagnostics.map((each) => each.line)).to.deep.equal([line])
      expect(diagnostics[0]?.message).to.contain(`did you mean "${meant}"?`)
    })
  }
})
