import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import {
  type ParameterSupport,
  type ParameterTable,
  type Provider,
  type ProviderPlugin,
  Secret,
} from 'unified-model-gateway/plugin'
import { createProvider, type PluginConfig } from 'unified-model-gateway/plugin/testing'

const FOLDER = new URL('../../plugins/providers/', import.meta.url)

const apiKey = new Secret('any')

/** For each provider the least configuration with which it can be made: nothing is sent. */
export const CONFIGS: Readonly<Record<string, PluginConfig>> = {
  anthropic: { apiKey },
  'azure-openai': { baseUrl: 'https://acme.openai.azure.com', apiKey },
  bedrock: { region: 'us-east-1', apiKey },
  cohere: { apiKey },
  gemini: { apiKey },
  ollama: {},
  'openai-compatible': { preset: 'openai', apiKey },
  sandbox: {},
  vertex: { project: 'acme-ai' },
}

/** A model of each kind, where the supports of parameters depend on it. */
const MODELS: Readonly<Record<string, readonly string[]>> = {
  vertex: ['gemini-2.5-pro', 'claude-opus-4-6'],
}

const INTRODUCTION = `# Providers

How each provider handles each parameter of a chat completion request. Every provider has a page of its own, which says more.

A name is what the parameter becomes in the upstream's request. Parameters that are **dropped** are harmless to leave out: the reply names
them in \`x-umg-params-dropped\`. Those that are **refused**, where they ask for something, are answered 400 \`unsupported_parameter\`,
because to leave them out would change what was asked for. Some models take less than their provider: that is on its page.

Some clients send -1 as \`max_tokens\` or \`max_completion_tokens\` for no limit. Most upstreams refuse that: no upstream gets it, and the call has no limit of
its own.

Where \`tools\` are taken, [tools in other forms](#tools-in-other-forms) are too.
`

const TOOL_FORMS = `## Tools in other forms

OpenAI has two other forms of tools in chat completions: custom tools (\`type: custom\`), whose input is plain text, and \`functions\` with
\`function_call\`, the way before tools. Vendors that know function tools only get these in their place, and the client gets its own form back, whole and
streamed:

- A custom tool is a function with one argument, \`input\`. Its calls come back as \`tool_calls\` of the type \`custom\`, in a stream with all of the input in
  one piece. A grammar stands in the description and is not enforced: \`tools.custom.format\` is named as dropped.
- \`functions\` are tools, and \`function_call\` is \`tool_choice\`. The call comes back as \`message.function_call\` with the finish reason \`function_call\`; of several
  calls in one answer the first one.
- Calls and results of both forms in the conversation, choices of custom tools, and these in \`allowed_tools\` go along.

\`azure-openai\`, the preset \`openai\`, \`sandbox\`, and an \`openai-compatible\` upstream without a preset get them as they are; OpenAI's Responses API gets custom
tools.
`

/** The text of docs/providers.md, made of the providers' own tables. */
export async function providersPage(): Promise<string> {
  const tables: [name: string, table: ParameterTable][] = []
  for (const [name, provider] of await builtInProviders()) {
    for (const table of tablesOf(name, provider)) tables.push([name, table])
  }
  const columns = tables.filter((entry, index): entry is [string, Exclude<ParameterTable, 'verbatim'>] => {
    const [, table] = entry
    return table !== 'verbatim' && tables.findIndex(([, other]) => other === table) === index
  })
  const names = [...new Set(columns.flatMap(([, table]) => Object.keys(table)))]
  const rows = names.map((name) => [`\`${name}\``, ...columns.map(([, table]) => cell(table[name]))])
  const heads = ['parameter', ...columns.map(([name]) => name)]
  const lines = [heads, heads.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`)
  return [INTRODUCTION, lines.join('\n'), '', notes(tables, columns), '', TOOL_FORMS].join('\n')
}

/** All built-in providers by their names, each with the least configuration. */
export async function builtInProviders(): Promise<readonly (readonly [name: string, provider: Provider])[]> {
  const names = readdirSync(fileURLToPath(FOLDER)).sort()
  return Promise.all(names.map(async (name) => [name, await builtIn(name)] as const))
}

async function builtIn(name: string): Promise<Provider> {
  const config = CONFIGS[name]
  if (config === undefined) throw new Error(`give docs/generate/providers.ts a configuration for ${name}`)
  const { default: plugin }: { readonly default: ProviderPlugin } = await import(new URL(`${name}/index.ts`, FOLDER).href)
  return createProvider(plugin, config)
}

function tablesOf(name: string, { parameters }: Provider): readonly ParameterTable[] {
  if (typeof parameters !== 'function') return [parameters]
  const models = MODELS[name]
  if (models === undefined) throw new Error(`give docs/generate/providers.ts a model of each kind for ${name}`)
  return models.map(parameters)
}

/** A support in a row of a table. */
export function cell(support: ParameterSupport | undefined): string {
  switch (support?.support) {
    case 'mapped':
      return support.to
        .split(', ')
        .map((word) => (/^[\w.[\]]+$/.test(word) ? `\`${word}\`` : word))
        .join(', ')
    case 'refused':
      return 'refused'
    default:
      return 'dropped'
  }
}

/** The providers that have no column of their own: those that pass all on, and those that do as others do. */
function notes(
  tables: readonly (readonly [string, ParameterTable])[],
  columns: readonly (readonly [string, ParameterTable])[],
): string {
  const relaying = tables.filter(([, table]) => table === 'verbatim').map(([name]) => `\`${name}\``)
  const others = tables
    .filter((entry) => entry[1] !== 'verbatim' && !columns.includes(entry))
    .map(([name, table]) => {
      const [like] = columns.find(([, other]) => other === table)!
      return { name, like }
    })
  const alike = [...Map.groupBy(others, ({ name }) => name)].map(
    ([name, entries]) =>
      `\`${name}\` does as ${entries.map(({ like }) => `\`${like}\``).join(' or ')} does, whichever made the model.`,
  )
  return [
    `${relaying.join(', ')} pass on every parameter as it came; what [presets](presets.md) change is on their page.`,
    ...alike,
  ].join('\n\n')
}
