import { dirname, join } from 'node:path'
import { type Declaration, readStatements } from './declarations.ts'

/** The entries of the plugin API, and what they are called. */
const ENTRIES = [
  { path: 'core/sdk/api.ts', module: 'unified-model-gateway/plugin', title: 'The plugin API' },
  { path: 'core/testing/kit.ts', module: 'unified-model-gateway/plugin/testing', title: 'The kit' },
] as const

/** What stands together, by the file it comes from. */
const PARTS: readonly (readonly [file: RegExp, title: string])[] = [
  [/^core\/error(?:s|-table)\./, 'Errors for clients'],
  [/sdk\/(?:api|plugin|call|host)\./, 'The contract'],
  [/^core\/text\/(?:money|budgets)\./, 'Money'],
  [/sdk\/estimates\./, 'Estimates of tokens'],
  [/sdk\/refusals\./, 'Errors of upstreams'],
  [/sdk\/limits\./, 'Limits'],
  [/sdk\/(?:chat|translated)\./, "OpenAI's wire"],
  [/sdk\/chunk\./, 'The parts of a translated stream'],
  [/sdk\/(?:secrets|template)\./, 'Secrets and templates'],
  [/sdk\/upstream-api\./, 'Addresses and lists of upstreams'],
  [/sdk\/[\w-]+\.ts$|^core\/text\/glob\./, 'For translating requests'],
  [/testing\/(?:conformance\/|describe-provider\.)/, 'The suite of a provider'],
  [/testing\/translator\//, 'Running translators'],
  [/testing\/(?:link\/|gateway\/client-reply\.)/, 'Running links'],
  [/testing\/gateway\//, 'Providers, calls and hosts for a test'],
  [/testing\//, 'The scripted upstream'],
]

const INTRODUCTION = `# Plugin API

Everything that a plugin and its tests can import, as the source declares it. [Plugins](plugins.md) says how it is used.`

interface Exported extends Declaration {
  /** As it is written where it is used: \`chunk.content\`. */
  readonly path: string
  /** The title under which it stands. */
  readonly part: string
}

/** The text of docs/plugin-api.md, made of the types. */
export function pluginApiPage(): string {
  const anchors = new Anchors()
  const contents: string[] = []
  const chapters: string[] = []
  for (const { title, module, path } of ENTRIES) {
    anchors.take(title)
    contents.push(`**${title}**: \`import { … } from '${module}'\``)
    chapters.push(`## ${title}`)
    const parts = Map.groupBy(exportedBy(path), ({ part }) => part)
    const lines = [...parts].map(([part, exported]) => {
      chapters.push(`### ${part}`, ...exported.map(section))
      const partLink = `[${part}](#${anchors.take(part)})`
      return `- ${partLink}: ${exported.map((one) => `[\`${one.path}\`](#${anchors.take(one.path)})`).join(', ')}`
    })
    contents.push(lines.join('\n'))
  }
  return `${[INTRODUCTION, ...contents, ...chapters].join('\n\n')}\n`
}

/** What a module exports: its own, then what it passes on, in the order in which it says so. */
function exportedBy(path: string): Exported[] {
  const statements = readStatements(path)
  const own = statements.flatMap((statement) =>
    statement.kind === 'declaration' ? [{ ...statement, path: statement.name, part: statement.part ?? partOf(path) }] : [],
  )
  const passedOn = statements.flatMap((statement) => {
    // TypeBox has a documentation of its own.
    if (statement.kind === 'declaration' || !statement.from.startsWith('.')) return []
    const { names, as } = statement
    const passed = exportedBy(join(dirname(path), statement.from))
    if (as !== undefined) return passed.map((one) => ({ ...one, path: `${as}.${one.path}` }))
    return names === undefined ? passed : names.flatMap((name) => passed.filter((one) => one.path === name))
  })
  return [...own, ...passedOn]
}

function partOf(path: string): string {
  const part = PARTS.find(([file]) => file.test(path))
  if (part === undefined) throw new Error(`give docs/generate/plugin-api.ts a title for what ${path} exports`)
  return part[1]
}

function section({ path, doc, code }: Exported): string {
  const [prose = '', ...examples] = doc.split(/^@example\n/m)
  const fence = (text: string) => `\`\`\`ts\n${text.trim()}\n\`\`\``
  const shown = examples.map((example) => `For example:\n\n${fence(example)}`)
  return [`#### \`${path}\``, prose.trim(), fence(code), ...shown].filter((text) => text !== '').join('\n\n')
}

/** The names by which GitHub links to headings: one that comes again gets a number. */
class Anchors {
  readonly #taken = new Map<string, number>()

  take(heading: string): string {
    const name = heading
      .toLowerCase()
      .replaceAll(' ', '-')
      .replaceAll(/[^\w-]/g, '')
    const count = this.#taken.get(name) ?? 0
    this.#taken.set(name, count + 1)
    return count === 0 ? name : `${name}-${count}`
  }
}
