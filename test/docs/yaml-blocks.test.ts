import { globSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { parse, stringify } from 'yaml'
import { loadConfig } from '../../core/config/load.ts'
import { ConfigError } from '../../core/text/diagnostic.ts'
import { type TemporaryFolder, temporaryFolder } from '../core/config/temporary-folder.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const PAGES = ['README.md', ...globSync('docs/**/*.md', { cwd: ROOT })]

/** Fields of a routing table: what has other fields only is another file's. */
const FIELDS = ['version', 'chain', 'namespaces', 'aliases', 'accounts', 'keys', 'expect']

interface Block {
  readonly page: string
  readonly line: number
  readonly text: string
}

const BLOCKS: readonly Block[] = PAGES.flatMap((page) => {
  const markdown = readFileSync(`${ROOT}${page}`, 'utf8')
  return [...markdown.matchAll(/^```ya?ml\n([\s\S]+?)^```/gm)].map(({ index, 1: text = '' }) => ({
    page,
    line: markdown.slice(0, index).split('\n').length,
    text,
  }))
})

/** What a reader would make of a block: the whole table that it is a part of. Undefined where it is another file's. */
function tableOf({ page, text }: Block): string | undefined {
  const data = parse(text) as Record<string, unknown>
  const fields = Object.keys(data)
  if (fields.join() === 'config')
    return stringify({ version: 1, namespaces: { example: { provider: basename(page, '.md'), ...data } } })
  if (!fields.every((field) => FIELDS.includes(field))) return undefined
  const missing = Object.entries({ version: '1', namespaces: '{}' }).filter(([field]) => !fields.includes(field))
  return `${text}${missing.map(([field, value]) => `${field}: ${value}\n`).join('')}`
}

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
    return Object.fromEntries([...table.matchAll(/\$\{env:(\w+)/g)].map(([, name]) => [name, 'value']))
  }

  it('is found', () => expect(BLOCKS.length).to.be.greaterThan(10))

  for (const block of BLOCKS) {
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
