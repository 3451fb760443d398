// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} is the syntax of routes.yaml
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect } from 'chai'
import { parse } from 'yaml'
import { schema } from '../../../core/cli/config/schema.ts'
import { runCommand } from '../../support/run-command.ts'
import { FULL_CONFIG, plugin } from '../config/full-config.ts'
import { type TemporaryFolder, temporaryFolder } from '../config/temporary-folder.ts'
import { ACME_TABLE } from './acme-table.ts'

const PROJECT = new URL('../../../', import.meta.url)
const read = (name: string): string => readFileSync(new URL(name, PROJECT), 'utf8')

/** Compiles a schema as an editor does, without knowledge of the gateway. */
const compile = (text: string): ValidateFunction =>
  new Ajv2020({
    strict: true,
    strictTypes: false,
    strictRequired: false,
    allErrors: true,
    formats: { instant: true, 'time-zone': true },
  }).compile(JSON.parse(text))

describe('umg schema', () => {
  let folder: TemporaryFolder
  let validate: ValidateFunction

  before(async () => {
    folder = temporaryFolder()
    validate = compile((await runCommand((io) => schema(undefined, io))).stdout)
  })

  after(() => folder?.remove())

  const fits = (table: string): boolean => validate(parse(table))
  const faults = (table: string): unknown[] => {
    validate(parse(table))
    return (validate.errors ?? []).map(({ instancePath, keyword }) => `${instancePath} ${keyword}`)
  }

  it('equals docs/routes.schema.json: update the file by `npm run docs`', async () => {
    expect((await runCommand((io) => schema(undefined, io))).stdout).to.equal(read('docs/routes.schema.json'))
  })

  it('is named in the first line of the routes.yaml in the package', () => {
    expect(read('routes.yaml').split('\n', 1)[0]).to.equal('# yaml-language-server: $schema=./docs/routes.schema.json')
  })

  it('accepts valid tables, with references in place of any scalar', () => {
    expect(fits(read('routes.yaml'))).to.equal(true)
    expect(fits(ACME_TABLE)).to.equal(true)
    expect(
      fits(ACME_TABLE.replace('attempts: 2', 'attempts: "${env:ATTEMPTS}"').replace('choose: busy', 'choose: "${HOW:-busy}"')),
    ).to.equal(true)
  })

  it('rejects a misspelt field at every level, also in the config of a plugin', () => {
    expect(faults(ACME_TABLE.replace('fallbacks:', 'falbacks:'))).to.include('/namespaces/acme/models/smart additionalProperties')
    expect(faults(ACME_TABLE.replace('concurrent:', 'concurent:'))).to.include(
      '/chain/1/config/classes/batch additionalProperties',
    )
    expect(faults(ACME_TABLE.replace('preset:', 'prset:'))).to.include('/namespaces/openai/config additionalProperties')
  })

  it('rejects a wrong value, and a missing config', () => {
    expect(faults(ACME_TABLE.replace('choose: busy', 'choose: bsuy'))).to.include('/namespaces/acme/models/spare/choose anyOf')
    expect(faults(ACME_TABLE.replace('preset: openai', 'preset: opnai'))).to.include('/namespaces/openai/config/preset anyOf')
    expect(faults('{ version: 1, namespaces: {}, chain: [{ plugin: rate-tagging }] }')).to.include('/chain/0 required')
  })

  it('rejects a secret in plain text', () => {
    expect(faults(ACME_TABLE.replace('"${env:OPENAI_API_KEY}"', 'hunter2'))).to.include(
      '/namespaces/openai/config/apiKey pattern',
    )
  })

  it('distinguishes the two kinds of namespaces', () => {
    const table = (namespace: string) => `{ version: 1, namespaces: { x: ${namespace} } }`
    expect(fits(table('{ provider: sandbox, models: [a] }'))).to.equal(true)
    expect(fits(table('{ models: { a: { targets: [{ model: y/b }] } } }'))).to.equal(true)
    expect(fits(table('{ provider: sandbox, models: { a: { targets: [{ model: y/b }] } } }'))).to.equal(false)
    expect(fits(table('{ models: [a] }'))).to.equal(false)
    expect(fits(table('{ models: { a: { targets: [{ model: y/b }] } }, testKeys: upstream }'))).to.equal(false)
    expect(fits(table('{}'))).to.equal(false)
  })

  it('contains the plugins that a file names, by the names in the file', async () => {
    const file = folder.write('routes.yaml', FULL_CONFIG)
    const { code, stdout, stderr } = await runCommand((io) => schema(file, io))
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' })
    const own = compile(stdout)
    expect(own(parse(FULL_CONFIG))).to.equal(true)
    expect(own(parse(FULL_CONFIG.replace('region: west', 'region: wset')))).to.equal(false)
    expect(Object.keys(JSON.parse(stdout).$defs)).to.include.members([
      `plugin:${plugin('audit')}`,
      'plugin:auth',
      'provider:sandbox',
    ])
  })

  it('keeps references inside the schema of a plugin', async () => {
    folder.write('tree.ts', TREE)
    const file = folder.write('routes.yaml', 'version: 1\nnamespaces: { a: { provider: ./tree.ts } }\n')
    const own = compile((await runCommand((io) => schema(file, io))).stdout)
    const table = (config: string) => parse(`{ version: 1, namespaces: { a: { provider: ./tree.ts, config: ${config} } } }`)
    expect(own(table('{ root: { leaf: { leaf: {} } } }'))).to.equal(true)
    expect(own(table('{ root: { leaf: { laef: {} } } }'))).to.equal(false)
  })

  it('is also printed for a table that is not valid, with notes about plugins that cannot be loaded', async () => {
    const file = folder.write('routes.yaml', 'version: 7\nchain: [{ plugin: ./gone.ts }]\nnamespaces: nothing\n')
    const { code, stdout, stderr } = await runCommand((io) => schema(file, io))
    expect(code).to.equal(0)
    expect(JSON.parse(stdout)).to.have.property('$schema', 'https://json-schema.org/draft/2020-12/schema')
    expect(stderr).to.match(/^note: "\.\/gone\.ts" is not there/)
  })

  it('is not printed for a file that cannot be read', async () => {
    for (const file of [folder.write('broken.yaml', 'a: [\n'), fileURLToPath(new URL('nowhere.yaml', PROJECT))]) {
      const { code, stderr } = await runCommand((io) => schema(file, io))
      expect(code).to.equal(2)
      expect(stderr).to.contain('cannot be read as YAML; umg validate shows the errors')
    }
  })
})

/** A provider with a recursive schema. */
const TREE = `import { defineProvider } from 'unified-model-gateway/plugin'
const node = { type: 'object', properties: { leaf: { $ref: '#/$defs/node' } }, additionalProperties: false }
export default defineProvider({
  apiVersion: 1,
  name: 'tree',
  schema: { $id: 'tree', type: 'object', properties: { root: { $ref: '#/$defs/node' } }, $defs: { node } },
  create: () => ({ parameters: 'verbatim', request: () => ({ status: 200, body: [] }) }),
})
`
