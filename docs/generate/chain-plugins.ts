import type { TSchema } from 'typebox'
import { builtinNames, loadPlugin } from '../../core/plugins/registry.ts'

/** What a page says of a plugin beside its fields. */
interface About {
  readonly text: string
  /** A routing table, which a test loads. */
  readonly example: string
}

const SANDBOX = 'namespaces: { sandbox: { provider: sandbox } }'

const ABOUT: Readonly<Record<string, About>> = {
  auth: {
    text: `Identifies each call by its API key, \`Authorization: Bearer sk-live-…\`, and refuses calls that it cannot identify with 401. Links below it
know the caller. Refusals are counted in \`umg_auth_failures_total\`.`,
    example: `version: 1
chain:
  - plugin: auth
    config:
      anonymous: { models: ["sandbox/*"] }
${SANDBOX}`,
  },
  'rate-tagging': {
    text: `Limits what keys and accounts may use, by rate classes, and labels calls with tags. It stands below \`auth\`. [Limits](limits.md) says how limits are
kept, and which headers replies have.`,
    example: `version: 1
chain:
  - plugin: auth
  - plugin: rate-tagging
    config:
      classes:
        standard: { requests: 60/min, tokens: 100k/min, concurrent: 10 }
        batch: { tokens: 500M/month }
      default: standard
      tags: { team: "{header.x-team}" }
      metrics: [team]
${SANDBOX}`,
  },
  'header-stamping': {
    text: `Sets headers of every reply: \`openai-processing-ms\`, \`x-umg-overhead-ms\` (the gateway's own share), \`x-umg-namespace\` and \`x-umg-model\` (what
served the call) and \`x-umg-attempts\`. It also sets the headers that its config names, in replies and in requests to upstreams. Headers of
the protocol and of the gateway, such as \`x-request-id\`, are refused when the file is read.`,
    example: `version: 1
chain:
  - plugin: auth
  - plugin: header-stamping
    config:
      response: { x-served-by: "{served_namespace}/{served_model}", x-cost: "{cost_usd}" }
      upstream: { x-account: "{account}" }
${SANDBOX}`,
  },
  explain: {
    text: `Tells a call that has the header \`x-umg-explain: 1\` how the routing table led it, in headers of the reply: by which route, in which attempts, with
which parameters. Only the keys that it names may ask. \`umg explain\` tells the same without a call.`,
    example: `version: 1
chain:
  - plugin: auth
  - plugin: explain
    config: { keys: ["routes:nightly"] }
${SANDBOX}
keys:
  - { name: nightly, hash: "sha256:${'0123456789abcdef'.repeat(4)}", kind: live, models: ["*"] }`,
  },
}

const INTRODUCTION = `# Chain plugins

The built-in plugins for the \`chain\` of [routes.yaml](routes.md#chain), and the fields of their \`config\`. In the names of fields, \`*\` is a name of
your own. [Plugins](plugins.md) says how to write one.
`

/** The text of docs/chain-plugins.md, made of the schemas of the built-in chain plugins. */
export async function chainPluginsPage(): Promise<string> {
  const names = Object.keys(ABOUT)
  const missing = (await builtinNames('chain')).filter((name) => !names.includes(name))
  if (missing.length > 0) throw new Error(`give docs/generate/chain-plugins.ts a text for ${missing.join(', ')}`)
  const sections = await Promise.all(names.map(async (name) => section(name, (await loadPlugin(name, 'chain', '.')).schema)))
  return [INTRODUCTION, ...sections].join('\n')
}

function section(name: string, schema: TSchema): string {
  const { text, example } = ABOUT[name]!
  const rows = fieldsOf(schema as Part).map(({ path, note, description }) => `| \`${path}\` | ${description} | ${note} |`)
  const table = ['| Field | | Default |', '|---|---|---|', ...rows].join('\n')
  return `## ${name}\n\n${text}\n\n${table}\n\n\`\`\`yaml\n${example}\n\`\`\`\n`
}

/** What the generator reads of a schema. */
interface Part {
  readonly description?: string
  readonly default?: unknown
  readonly properties?: Readonly<Record<string, Part>>
  readonly patternProperties?: Readonly<Record<string, Part>>
  readonly required?: readonly string[]
}

interface Field {
  readonly path: string
  readonly description: string
  /** Its default, or that it is required. */
  readonly note: string
}

/** The fields of a map and of the maps in it. */
function fieldsOf({ properties = {}, required = [] }: Part, parent = ''): readonly Field[] {
  return Object.entries(properties).flatMap(([name, part]) => {
    const path = parent + name
    const note = part.default === undefined ? (required.includes(name) ? 'required' : '') : `\`${JSON.stringify(part.default)}\``
    const entries = Object.values(part.patternProperties ?? {}).flatMap((entry) => fieldsOf(entry, `${path}.*.`))
    return [{ path, description: part.description ?? '', note }, ...fieldsOf(part, `${path}.`), ...entries]
  })
}
