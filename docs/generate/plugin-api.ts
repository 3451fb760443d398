import { dirname, join } from 'node:path'
import { type Declaration, readStatements } from './declarations.ts'

/** The entries of the seam, and what they are called. */
const ENTRIES = [
  { path: 'core/plugin/api.ts', module: 'unified-model-gateway/plugin', title: 'The seam' },
  { path: 'core/plugin/testing.ts', module: 'unified-model-gateway/plugin/testing', title: 'The kit' },
] as const

const INTRODUCTION = `# Plugin API

Everything that a plugin can import, as the compiler declares it. [Plugins](plugins.md) says how it is used.
`

interface Exported extends Declaration {
  /** As it is written where it is used: `chunk.content`. */
  readonly path: string
}

/** The text of docs/plugin-api.md, made of the types. */
export function pluginApiPage(): string {
  const entries = ENTRIES.map((entry) => ({ ...entry, exported: withOverloads(exportedBy(entry.path)) }))
  const contents = entries.map(({ title, exported }) => `- ${title}: ${exported.map(({ path }) => link(path)).join(', ')}`)
  const chapters = entries.flatMap(({ title, module, exported }) => [
    `## ${title}\n\n\`import { … } from '${module}'\``,
    ...exported.map(section),
  ])
  return `${[INTRODUCTION.trim(), contents.join('\n'), ...chapters].join('\n\n')}\n`
}

/** What a module exports, its own and what it passes on, in the order in which it says so. */
function exportedBy(path: string): Exported[] {
  return readStatements(path).flatMap((statement): Exported[] => {
    if (statement.kind === 'declaration') return [{ ...statement, path: statement.name }]
    // TypeBox has a documentation of its own.
    if (!statement.from.startsWith('.')) return []
    const { names, as } = statement
    const passed = exportedBy(join(dirname(path), statement.from))
    if (as !== undefined) return passed.map((one) => ({ ...one, path: `${as}.${one.path}` }))
    return names === undefined ? passed : names.flatMap((name) => passed.filter((one) => one.path === name))
  })
}

/** One entry for all overloads of a function; what implements them is nobody's to call. */
function withOverloads(exported: readonly Exported[]): Exported[] {
  return [...Map.groupBy(exported, ({ path }) => path).values()].map((entries) => {
    const callable = entries.length > 1 ? entries.slice(0, -1) : entries
    return { ...entries[0]!, code: callable.map(({ code }) => code).join('\n') }
  })
}

function section({ path, doc, code }: Exported): string {
  const [prose = '', ...examples] = doc.split(/^@example\n/m)
  const fence = (text: string) => `\`\`\`ts\n${text.trim()}\n\`\`\``
  return [`### \`${path}\``, prose.trim(), fence(code), ...examples.map((example) => `For example:\n\n${fence(example)}`)].filter(Boolean).join('\n\n')
}

const link = (path: string): string => `[\`${path}\`](#${path.toLowerCase().replaceAll('.', '')})`
