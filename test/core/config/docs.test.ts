import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import type { TSchema } from 'typebox'
import { loadConfig } from '../../../core/config/load.ts'
import { routesSchema } from '../../../core/config/schema/routes-yaml.ts'
import { plugin } from './full-config.ts'
import { type TemporaryFolder, temporaryFolder } from './temporary-folder.ts'

const PROJECT = new URL('../../../', import.meta.url)
const DOC = readFileSync(new URL('docs/routes.md', PROJECT), 'utf8')

/** The variables in the examples. */
const KEYS = {
  OPENAI_API_KEY: 'a-key',
  ANTHROPIC_API_KEY: 'a-key',
  UMG_WEBHOOK_SECRET: `whsec_${'A'.repeat(44)}`,
  UMG_RESPONSES_KEY: 'k'.repeat(32),
}

type Fields = Readonly<Record<string, Field>>

interface Field extends TSchema {
  readonly description?: string
  readonly default?: unknown
  readonly properties?: Fields
  readonly items?: Field
  readonly then?: Field
  readonly enum?: readonly unknown[]
  readonly patternProperties?: Fields
  readonly else?: Field
  readonly required?: readonly string[]
}

const root = routesSchema as TSchema as Field
const link = root.properties!.chain!.items!
const entryOf = (map: Field): Field => Object.values(map.patternProperties!)[0]!
const namespace = entryOf(root.properties!.namespaces!)
const price = entryOf(root.properties!.prices!.properties!.models!)
const route = entryOf(namespace.properties!.models!.else!)

/** The sections of docs/routes.md that list fields. */
const SECTIONS: Readonly<Record<string, Field>> = {
  '## Top-level fields': root,
  '## chain': link,
  '### when': link.properties!.when!,
  '## namespaces': namespace,
  '### timeouts': namespace.properties!.timeouts!,
  '### concurrency': namespace.properties!.concurrency!,
  '### limits': namespace.properties!.limits!,
  '### tls': namespace.properties!.tls!,
  '## Curated models': route,
  '### Targets': route.properties!.targets!.items!,
  '### Retries': route.properties!.retry!,
  '### Timeouts of a curated model': route.properties!.timeouts!,
  '## accounts': entryOf(root.properties!.accounts!),
  '## keys': root.properties!.keys!.items!,
  '## prices': root.properties!.prices!,
  '### Prices of models': price,
  '### Prices of long prompts': price.properties!.tiers!.items!,
  '## budgets': root.properties!.budgets!,
  '### Webhooks': root.properties!.budgets!.properties!.webhooks!.items!,
  '## expect': entryOf(root.properties!.expect!).else!.items!,
}

describe('docs/routes.md', () => {
  let folder: TemporaryFolder

  before(() => {
    folder = temporaryFolder()
    folder.write('my-audit.ts', `export { default } from '${plugin('auth')}'`)
  })

  after(() => folder?.remove())

  for (const [heading, schema] of Object.entries(SECTIONS)) {
    it(`lists in "${heading}" exactly the fields that the schema has, with their defaults`, () => {
      expect(rowsOf(heading)).to.deep.equal(Object.entries(schema.properties!).map(([name, field]) => row(name, field, schema)))
    })
  }

  it('names the values of each field that has a few', () => {
    const choices = Object.values(SECTIONS).flatMap(({ properties }) => Object.entries(properties!).map(choiceOf))
    const silent = choices.filter(({ description, values }) => values.some((value) => !description.includes(`\`${value}\``)))
    expect(choices.filter(({ values }) => values.length > 0)).to.have.length.above(5)
    // The page has a table of causes.
    expect(silent.map(({ name }) => name)).to.deep.equal(['on'])
  })

  for (const [index, block] of completeFiles(DOC).entries()) {
    it(`shows a complete routes.yaml, number ${index + 1}, that is valid`, async () => {
      const config = await loadConfig(folder.write('routes.yaml', block), KEYS)
      expect(config.namespaces.size).to.be.greaterThan(0)
    })
  }

  it('shows the error of its example', async () => {
    const [first = ''] = completeFiles(DOC)
    const broken = first.replace(
      '    timeouts: { connect: 2s, firstByte: 60s, idle: 30s, total: 10m }',
      '    timout: { connect: 2s }',
    )
    const error: unknown = await loadConfig(folder.write('routes.yaml', broken), KEYS).catch((reason: unknown) => reason)
    const shown = /```\n(routes\.yaml:[^`]+)\n```/.exec(DOC)?.[1]
    expect((error as Error).message.replace(`${folder.path}/`, '')).to.equal(shown)
  })
})

describe('the routes.yaml of a new installation', () => {
  const file = fileURLToPath(new URL('deploy/routes.yaml', PROJECT))
  const VARIABLES = ['OPENAI_API_KEY', 'ANTHROPIC_API_KEY', 'OPENROUTER_API_KEY', 'OLLAMA_BASE_URL']

  it('is valid without credentials: the sandbox serves calls, and notices say what to set', async () => {
    const config = await loadConfig(file, {})
    expect(config.chain.map((each) => each.plugin.name)).to.deep.equal(['auth', 'rate-tagging', 'header-stamping'])
    const served = [...config.namespaces.values()].filter(({ dormant }) => dormant === undefined)
    expect(served.map(({ name }) => name)).to.deep.equal(['sandbox'])
    expect(config.notices.map((notice) => notice.split('set ').at(-1))).to.deep.equal(VARIABLES)
  })

  it('is valid with all credentials', async () => {
    const config = await loadConfig(file, Object.fromEntries(VARIABLES.map((name) => [name, 'http://127.0.0.1'])))
    expect([...config.namespaces.values()].filter(({ dormant }) => dormant !== undefined)).to.deep.equal([])
    expect(config.notices).to.deep.equal([])
  })
})

/** The words that a field may be, or be a list of. */
function choiceOf([name, field]: [string, Field]) {
  const { enum: values = [] } = [field, field.items, field.then].find((each) => each?.enum !== undefined) ?? {}
  return { name, description: field.description ?? '', values }
}

/** The YAML blocks that are complete files. */
function completeFiles(markdown: string): readonly string[] {
  return [...markdown.matchAll(/```yaml\n(version:[\s\S]+?)```/g)].map(([, block = '']) => block)
}

function rowsOf(heading: string): readonly string[] {
  const section = DOC.slice(DOC.indexOf(`\n${heading}\n`) + heading.length + 2).split(/\n##/, 1)[0] ?? ''
  const rows = section.split('| Field | | Default |\n|---|---|---|\n')[1] ?? ''
  return (rows.split('\n\n', 1)[0] ?? '').trimEnd().split('\n')
}

function row(name: string, { description, default: fallback }: Field, { required }: Field): string {
  const scalar = fallback === undefined || typeof fallback === 'object' ? '' : `\`${fallback}\``
  const last = required?.includes(name) ? 'required' : scalar
  return `| \`${name}\` | ${description} |${last === '' ? '' : ` ${last}`} |`
}
