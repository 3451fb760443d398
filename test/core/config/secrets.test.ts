// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} is the syntax of routes.yaml
import { expect } from 'chai'
import { loadConfig } from '../../../core/config/load.ts'
import { ConfigError } from '../../../core/text/diagnostic.ts'
import { FULL_CONFIG, FULL_ENV } from './full-config.ts'
import { misspellings, replaceTokens, tokensOf } from './mutations.ts'
import { type TemporaryFolder, temporaryFolder } from './temporary-folder.ts'

const CANARY = 'canary4711'

/** The full config with a credential in place of a reference. */
const LEAKING = FULL_CONFIG.replace('"${env:UPSTREAM_KEY}"', CANARY)

describe('a secret', () => {
  let folder: TemporaryFolder

  before(() => {
    folder = temporaryFolder()
    folder.write('west.txt', CANARY)
  })

  after(() => folder?.remove())

  /** Everything that a person sees of a file, valid or not. */
  async function show(text: string, env: NodeJS.ProcessEnv = FULL_ENV): Promise<string> {
    try {
      return (await loadConfig(folder.write('routes.yaml', text), env)).notices.join('\n')
    } catch (error) {
      expect(error).to.be.instanceOf(ConfigError)
      return `${(error as ConfigError).message}\n${JSON.stringify((error as ConfigError).diagnostics)}`
    }
  }

  it('in the file is refused and never shown', async () => {
    const shown = await show(LEAKING)
    expect(shown).to.match(/routes\.yaml:18:15: namespaces\.east\.config\.apiKey is a secret/)
    expect(shown).not.to.contain(CANARY)
  })

  it('in the file is not shown by any other error in it', async () => {
    for (const key of tokensOf(LEAKING).keys) {
      for (const misspelt of misspellings(key.text))
        expect(await show(replaceTokens(LEAKING, [key, misspelt]))).not.to.contain(CANARY)
    }
  })

  it('in the file is not shown if a line of it is not valid YAML', async () => {
    const lines = LEAKING.split('\n')
    for (const [index, line] of lines.entries()) {
      const broken = lines.with(index, `${line} }: "`).join('\n')
      expect(await show(broken)).not.to.contain(CANARY)
    }
  })

  for (const written of [
    `'${CANARY}'`,
    `"${CANARY}"`,
    `|\n        ${CANARY}`,
    `>-\n        ${CANARY}\n        ${CANARY}`,
    `[${CANARY}]`,
    `{ a: ${CANARY} }`,
    `&a ${CANARY}`,
    `!!str ${CANARY}`,
    `"\${env:NOT_SET:-${CANARY}}"`,
  ]) {
    it(`in the file is not shown if it is written as ${JSON.stringify(written)}`, async () => {
      const shown = await show(LEAKING.replace(CANARY, written).replace('region: west', 'region: wset'))
      expect(shown).to.contain('did you mean "west"?')
      expect(shown).not.to.contain(CANARY)
    })
  }

  it('in the environment or in another file is not shown by any error', async () => {
    const env = { UPSTREAM_KEY: CANARY }
    for (const key of tokensOf(FULL_CONFIG).keys) {
      for (const misspelt of misspellings(key.text))
        expect(await show(replaceTokens(FULL_CONFIG, [key, misspelt]), env)).not.to.contain(CANARY)
    }
  })

  it('in the environment is not shown wherever it is used', async () => {
    const env = { UPSTREAM_KEY: CANARY }
    const { scalars } = tokensOf(FULL_CONFIG)
    for (const scalar of scalars) {
      for (const reference of ['"${env:UPSTREAM_KEY}"', '"x/${env:UPSTREAM_KEY}"']) {
        expect(await show(replaceTokens(FULL_CONFIG, [scalar, reference]), env)).not.to.contain(CANARY)
      }
    }
  })

  it('that looks like an API key is refused anywhere, comments included', async () => {
    const key = 'sk-live-abcDEF0123456789'
    for (const [index, line] of FULL_CONFIG.split('\n').entries()) {
      const lines = FULL_CONFIG.split('\n').with(index, `${line} # ${key}`)
      const shown = await show(lines.join('\n'))
      expect(shown).to.contain(`routes.yaml:${index + 1}:${line.length + 4}: API key in plain text`)
      expect(shown).not.to.contain('abcDEF')
    }
  })

  it('is not suspected in prose about keys', async () => {
    expect(await show(`# sk-live- and sk-test- keys, also sk-… and sk-ant-\n${FULL_CONFIG}`)).to.equal('')
  })
})
