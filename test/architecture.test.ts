import { expect } from 'chai'
import { placeOf, readSources, readText, type Source } from './support/sources.ts'

/** The folders of core, the lowest first: a file imports from its own folder and from those before it. */
const FOLDERS = [
  'node-version.mjs',
  'require-node.mjs',
  'pinned-node.mjs',
  'error-table.ts',
  'errors.ts',
  'internals.ts',
  'undici.d.ts',
  'async',
  'text',
  'sdk',
  'plugins',
  'protocol',
  'observe',
  'workers',
  'config',
  'store',
  'kept',
  'telemetry',
  'accounts',
  'keys',
  'usage',
  'limits',
  'budgets',
  'upstream',
  'routing',
  'dispatch',
  'call',
  'http',
  'control',
  'gateway',
  'cli',
  'testing',
  'main.ts',
  'umg.mjs',
  'unified-model-gateway.mjs',
] as const

const SEAM = 'unified-model-gateway/plugin'
/** Providers whose upstreams also speak another provider's protocol: they may import from its folder. */
const WIRES: Readonly<Record<string, readonly string[]>> = {
  'azure-openai': ['openai-compatible'],
  bedrock: ['anthropic', 'cohere'],
  vertex: ['anthropic', 'gemini'],
}
const ENTRY = /^plugins\/(?:chain|providers)\/[\w-]+\/index\.ts$/

/** Forbidden in the code. `but`: files in which it is allowed. `everywhere`: also in comments and strings. */
const BANNED: readonly { readonly what: string; readonly pattern: RegExp; readonly but?: RegExp; readonly everywhere?: true }[] =
  [
    { what: 'console.*: use the log', pattern: /\bconsole\./, but: /^bench\// },
    { what: 'any: use unknown and check it', pattern: /(?:[:<|&,]\s*|\bas\s+)any\b(?!\s*[:(])/ },
    { what: 'enums and namespaces: Node strips types only', pattern: /\b(?:enum|namespace|module)\s+\w+\s*\{/ },
    {
      what: 'parameter properties: Node strips types only',
      pattern: /[(,]\s*(?:private|public|protected)\s+\w+\s*[?:]/,
    },
    { what: 'default exports, except of plugins', pattern: /\bexport default\b/, but: ENTRY },
    // A Host header can contain a path, so Koa's URL may differ from the request's target.
    {
      what: 'addresses from a Host header',
      pattern:
        /\bctx(?:\.req(?:uest)?)?\.(?:URL|href|origin|host|hostname)\b|\{[^{}]*\b(?:URL|href|origin|host|hostname)\b[^{}]*\} = ctx\b/,
    },
    { what: 'loose equality, except with null', pattern: /[^=!<>][=!]=(?!=)\s*(?!\s|null\b)/ },
    // The time of a comparison reveals matching characters: digests are looked up, or compared by timingSafeEqual.
    {
      what: 'secrets compared by ===',
      pattern: /\b\w*(?:secret|digest|password)\s*[=!]==\s*(?!undefined|null|true|false)[a-z]/i,
    },
    {
      what: 'the whole of undici at the start of a process: core/undici.d.ts',
      pattern: /^import (?!type\b).*'undici'/m,
      but: /^bench\//,
      everywhere: true,
    },
    {
      what: 'what Node and undici do not document: core/internals.ts',
      pattern: /'undici\/lib\/|\.chunkedEncoding\b|listeners\('connection'\)|process\.binding|[\w)\]]\._[a-z]/,
      but: /^core\/(?:internals|undici\.d)\.ts$/,
      everywhere: true,
    },
    { what: 'code from text', pattern: /\beval\(|\bnew Function\(/ },
    {
      what: 'child processes',
      pattern: /'node:(?:child_process|cluster|vm)'/,
      but: /^bench\/|^core\/gateway\/supervised-process\.ts$|^core\/pinned-node\.mjs$/,
      everywhere: true,
    },
    {
      what: 'checks disabled without a reason',
      pattern: /@ts-(?:ignore|nocheck|expect-error)|biome-ignore(?! lint\/[\w/]+: \w)/,
      everywhere: true,
    },
  ]

/** The templates of a new plugin and of a new project follow rules of their own. */
const TEMPLATE = /^plugins\/create-umg-plugin\/templates\/|^core\/cli\/project\/template\//

const SOURCES = readSources('{core,plugins,bench}/**/*.{ts,mjs}').filter(({ path }) => !TEMPLATE.test(path))
const CORE = SOURCES.filter(({ path }) => path.startsWith('core/'))
const PLUGINS = SOURCES.filter(({ path }) => path.startsWith('plugins/'))

const rankOf = (path: string): number => FOLDERS.indexOf(path.split('/')[1] as (typeof FOLDERS)[number])
/** A file in `core/` itself counts as a folder of its own. */
const folderOf = (path: string): string => (/^core\/[^/]+$/.test(path) ? path : path.slice(0, path.lastIndexOf('/')))

/** The folder of a plugin, of any path in it. */
const pluginOf = (path: string): string => path.split('/').slice(0, 3).join('/')

/** The folders of other providers that a plugin may import from. */
const wiresOf = (path: string): string[] => (WIRES[path.split('/')[2]!] ?? []).map((name) => `plugins/providers/${name}`)

const TESTS = readSources('test/**/*.ts')

/** The text of a call that begins at a place, to the end of its parentheses. */
function callAt(code: string, start: number): string {
  let depth = 0
  for (let at = code.indexOf('(', start); at < code.length; at++) {
    if (code[at] === '(') depth++
    if (code[at] === ')') depth--
    if (depth === 0) return code.slice(start, at + 1)
  }
  return code.slice(start)
}

const paths = (sources: readonly Source[]): string[] => sources.map(({ path }) => path)

/** The places in a file's code that match a pattern. */
const places = (source: Source, pattern: RegExp, text = source.code): string[] =>
  Array.from(text.matchAll(new RegExp(pattern, `${pattern.flags}g`)), ({ index }) => placeOf(source, index))

/** The cycles of a graph: its strongly connected components of more than one node (Tarjan). */
function cyclesOf(imports: ReadonlyMap<string, ReadonlySet<string>>): string[][] {
  const order = new Map<string, number>()
  const low = new Map<string, number>()
  const stack: string[] = []
  const cycles: string[][] = []
  function visit(node: string): void {
    order.set(node, order.size)
    low.set(node, order.get(node)!)
    stack.push(node)
    for (const target of imports.get(node) ?? []) {
      if (!order.has(target)) visit(target)
      if (stack.includes(target)) low.set(node, Math.min(low.get(node)!, low.get(target)!))
    }
    if (low.get(node) !== order.get(node)) return
    const cycle = stack.splice(stack.indexOf(node))
    if (cycle.length > 1) cycles.push(cycle.sort())
  }
  for (const node of imports.keys()) if (!order.has(node)) visit(node)
  return cycles
}

describe('the source tree', () => {
  it('has matching brackets, so that this test reads it as the compiler does', () => {
    for (const { path, code } of SOURCES)
      for (const [open, close] of ['()', '[]', '{}']) expect(code.split(open!).length, path).to.equal(code.split(close!).length)
  })

  it('has only the listed folders in core', () => {
    expect(paths(CORE.filter(({ path }) => rankOf(path) < 0))).to.deep.equal([])
  })

  it('has files in core that import from their own folder and those before it', () => {
    const upward = ({ path, inner }: Source) =>
      inner.filter((target) => rankOf(target) > rankOf(path)).map((target) => `${path} imports ${target}`)
    expect(CORE.flatMap(upward)).to.deep.equal([])
  })

  it('has no cycle of files', () => {
    expect(cyclesOf(new Map(SOURCES.map(({ path, inner }) => [path, new Set(inner)])))).to.deep.equal([])
  })

  it('has no cycle of folders', () => {
    const folders = new Map<string, Set<string>>()
    for (const { path, inner } of SOURCES) {
      const imported = folders.get(folderOf(path)) ?? new Set()
      folders.set(folderOf(path), imported)
      for (const target of inner) if (folderOf(target) !== folderOf(path)) imported.add(folderOf(target))
    }
    expect(cyclesOf(folders)).to.deep.equal([])
  })

  it('has plugins that import only their own folder, node:, npm packages and the plugin API', () => {
    const foreign = ({ path, inner, imports }: Source) => {
      const allowed = [pluginOf(path), ...wiresOf(path)]
      const outside = inner.filter((target) => !allowed.includes(pluginOf(target)))
      const ours = imports.filter((name) => name.startsWith('unified-model-gateway') && name !== SEAM)
      return [...outside, ...ours].map((target) => `${path} imports ${target}`)
    }
    expect(PLUGINS.flatMap(foreign)).to.deep.equal([])
  })

  it('has no row in WIRES that no provider needs', () => {
    const used = new Set(PLUGINS.flatMap(({ path, inner }) => inner.map((target) => `${folderOf(path)} ${folderOf(target)}`)))
    const listed = Object.keys(WIRES).map((name) => `plugins/providers/${name}`)
    expect(listed.flatMap((own) => wiresOf(own).filter((wire) => !used.has(`${own} ${wire}`)))).to.deep.equal([])
  })

  it('has the rows of WIRES in docs/architecture.md', () => {
    const rows = readText('docs/architecture.md').matchAll(/^\| `([\w-]+)` \| (`[^|]+`) \|/gm)
    const listed = Array.from(rows, ([, name, wires]) => [name, wires!.replaceAll('`', '').split(', ')])
    expect(Object.fromEntries(listed)).to.deep.equal(WIRES)
  })

  it('exports the plugin API and its testing kit only', () => {
    const { exports: exported } = JSON.parse(readText('package.json'))
    expect(Object.keys(exported)).to.have.members(['./plugin', './plugin/testing', './package.json'])
  })

  it('has no vague file names', () => {
    const VAGUE = /\/(?:utils?|helpers?|common|misc|shared|lib)(?:\.\w+|\/)/
    expect(paths(SOURCES.filter(({ path }) => VAGUE.test(path)))).to.deep.equal([])
  })

  it('has no barrels: only plugins have an index', () => {
    expect(paths(SOURCES.filter(({ path }) => /\/index\.\w+$/.test(path) && !ENTRY.test(path)))).to.deep.equal([])
  })

  for (const { what, pattern, but, everywhere } of BANNED) {
    it(`does not contain ${what}`, () => {
      const found = SOURCES.filter(({ path }) => !but?.test(path)).flatMap((source) =>
        places(source, pattern, everywhere ? source.text : source.code),
      )
      expect(found).to.deep.equal([])
    })
  }

  it('has tests whose `after` hooks close only what `before` opened', () => {
    const unopened = (source: Source): string[] => {
      const names = Array.from(source.code.matchAll(/^ *let (\w+): [^=\n]+$/gm), ([, name]) => name!)
      if (names.length === 0) return []
      const use = new RegExp(`\\b(?:${names.join('|')})!?[.[]`)
      return [...source.code.matchAll(/\bafter(?:Each)?\(/g)].flatMap(({ index }) => {
        const hook = callAt(source.code, index)
        const found = use.exec(hook)
        return found === null ? [] : [placeOf(source, index + found.index)]
      })
    }
    expect(TESTS.flatMap(unopened)).to.deep.equal([])
  })

  it('has a doc comment on each export', () => {
    const EXPORTED = /^export (?:default )?(?:abstract )?(?:async )?(?:const|function\*?|class|interface|type(?! [{*]))\b/m
    const undocumented = (source: Source) =>
      [...source.code.matchAll(new RegExp(EXPORTED, 'gm'))]
        .filter(({ index }) => !source.text.slice(0, index).trimEnd().endsWith('*/'))
        .map(({ index }) => placeOf(source, index))
    expect([...CORE, ...PLUGINS].flatMap(undocumented)).to.deep.equal([])
  })

  it('enables the rules of TypeScript and Biome that this test relies on', () => {
    expect(readText('tsconfig.json'))
      .to.match(/"strict": true/)
      .and.to.match(/"erasableSyntaxOnly": true/)
    expect(JSON.parse(readText('biome.json')).linter.rules.suspicious).to.include({ noExplicitAny: 'error', noConsole: 'error' })
  })
})
