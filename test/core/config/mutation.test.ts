import { expect } from 'chai'
import { loadConfig } from '../../../core/config/load.ts'
import { ConfigError, type Diagnostic } from '../../../core/text/diagnostic.ts'
import { FULL_ENV, FULL_TABLE } from './full-table.ts'
import { misspellings, replaceTokens, tokensOf } from './mutations.ts'
import { type TemporaryFolder, temporaryFolder } from './temporary-folder.ts'

/** The keys that a schema knows, and all scalar values, each with its place. */
const { keys, scalars } = tokensOf(FULL_TABLE)

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

  it('is right as it stands', async () => {
    expect(await diagnose(FULL_TABLE)).to.deep.equal([])
  })

  for (const key of keys) {
    it(`with "${key.text}" misspelt in line ${key.line} is told so there, and only there`, async () => {
      for (const misspelt of misspellings(key.text)) {
        const [first, ...others] = await diagnose(replaceTokens(FULL_TABLE, [key, misspelt]))
        expect(first).to.include({ line: key.line, column: key.column })
        expect(first?.message).to.contain(`unknown field "${misspelt}"`).and.contain(`did you mean "${key.text}"?`)
        expect(others.map(({ message }) => message).filter((message) => message.includes('field'))).to.deep.equal([])
      }
    })
  }

  for (const scalar of scalars) {
    it(`with a map for "${scalar.text}" in line ${scalar.line} is told so there`, async () => {
      const diagnostics = await diagnose(replaceTokens(FULL_TABLE, [scalar, '{}']))
      expect(diagnostics[0]).to.include({ line: scalar.line, column: scalar.column })
    })
  }

  it('with a map for every scalar is told of all of them at once', async () => {
    const values = scalars.filter(({ text }) => !text.endsWith('.ts'))
    const diagnostics = await diagnose(replaceTokens(FULL_TABLE, ...values.map((value) => [value, '{}'] as const)))
    expect(diagnostics.map(({ line }) => line)).to.include.members(values.map(({ line }) => line))
  })

  for (const [written, { broken, meant }] of Object.entries(REFERENCES)) {
    it(`with ${broken} for ${written} is told what was meant`, async () => {
      const diagnostics = await diagnose(FULL_TABLE.replace(written, broken))
      const line = FULL_TABLE.slice(0, FULL_TABLE.indexOf(written)).split('\n').length
      expect(diagnostics.map((each) => each.line)).to.deep.equal([line])
      expect(diagnostics[0]?.message).to.contain(`did you mean "${meant}"?`)
    })
  }
})
