import { expect } from 'chai'
import { loadConfig } from '../../core/config/load.ts'
import { ConfigError } from '../../core/text/diagnostic.ts'
import { type TemporaryFolder, temporaryFolder } from '../core/config/temporary-folder.ts'
import { tableOf, YAML_BLOCKS } from '../support/yaml-blocks.ts'

describe('the YAML in the docs', () => {
  let folder: TemporaryFolder

  before(() => {
    folder = temporaryFolder()
  })

  after(() => folder?.remove())

  /** Writes the files that a table refers to, and gives the variables. */
  function surround(table: string): NodeJS.ProcessEnv {
    // A few fields take only the text of a certificate or of its key.
    folder.write('secret', 'value -----BEGIN CERTIFICATE----- -----BEGIN PRIVATE KEY-----')
    for (const [, kind, path = ''] of table.matchAll(/(plugin|provider): (\.[\w./-]+)/g))
      folder.write(path, kind === 'plugin' ? LINK : PROVIDER)
    return Object.fromEntries(
      [...table.matchAll(/\$\{env:(\w+)/g)].map(([, name = '']) => [
        name,
        name.endsWith('WEBHOOK_SECRET') ? `whsec_${'A'.repeat(44)}` : 'value'.repeat(8),
      ]),
    )
  }

  it('is found', () => expect(YAML_BLOCKS.length).to.be.greaterThan(10))

  for (const block of YAML_BLOCKS) {
    const table = tableOf(block)
    if (table === undefined) continue
    it(`is right in ${block.page}, line ${block.line}`, async () => {
      const own = table.replaceAll(/\$\{file:[^}]+\}/g, `\${file:${folder.path}/secret}`)
      const file = folder.write('routes.yaml', own)
      const error: unknown = await loadConfig(file, surround(own)).catch((reason: unknown) => reason)
      expect(error instanceof ConfigError ? error.message : '').to.equal('')
    })
  }
})

const anyConfig = "schema: { type: 'object', properties: {}, additionalProperties: true }"

const LINK = `export default { kind: 'chain', apiVersion: 1, name: 'any', ${anyConfig}, create: () => ({ handle: (_, next) => next() }) }\n`

const PROVIDER = `export default { kind: 'provider', apiVersion: 1, name: 'any', ${anyConfig}, create: () => ({ parameters: 'verbatim', request: () => ({ status: 200, body: [] }) }) }\n`
