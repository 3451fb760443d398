import { expect } from 'chai'
import { placeOf, readSources, readText, type Source } from './support/sources.ts'

/** The rooms of core, the lowest first: a file imports from its own room and from those before it. */
const ROOMS = [
  'node-version.mjs',
  'errors.ts',
  'async',
  'text',
  'sdk',
  'plugins',
  'protocol',
  'observe',
  'workers',
  'config',
  'store',
  'accounts',
  'keys',
  'usage',
  'quota',
  'upstream',
  'routing',
  'http',
  'control',
  'gateway',
  'cli',
  'testing',
  'main.ts',
  'umg.mjs',
] as const

const SEAM = 'unified-model-gateway/plugin'
/** Providers whose upstreams speak another provider's wire too: they may import from its folder. */
const WIRES: Readonly<Record<string, readonly string[]>> = {
  'azure-openai': ['openai-compatible'],
  bedrock: ['anthropic', 'cohere'],
  vertex: ['anthropic', 'gemini'],
}
const ENTRY = /^plugins\/(?:chain|providers)\/[\w-]+\/index\.ts$/

/** A file of more lines has more than one subject. */
const MOST_LINES = 350

/** What must not stand in the code. `but`: where it may. `everywhere`: nor in comments and strings. */
const BANNED: readonly { readonly what: string; readonly pattern: RegExp; readonly but?: RegExp; readonly everywhere?: true }[] =
  [
    { what: 'the console: there is a log', pattern: /\bconsole\./, but: /^bench\// },
    { what: 'any: say unknown, and look', pattern: /(?:[:<|&,]\s*|\bas\s+)any\b(?!\s*[:(])/ },
    { what: 'enums and namespaces: types are stripped, not compiled', pattern: /\b(?:enum|namespace|module)\s+\w+\s*\{/ },
    {
      what: 'parameter properties: types are stripped, not compiled',
      pattern: /[(,]\s*(?:private|public|protected)\s+\w+\s*[?:]/,
    },
    { what: 'default exports, but for plugins', pattern: /\bexport default\b/, but: ENTRY },
    // A Host header can carry a path, so that what Koa makes of it is not where the request went.
    {
      what: 'addresses made of a Host header',
      pattern:
        /\bctx(?:\.req(?:uest)?)?\.(?:URL|href|origin|host|hostname)\b|\{[^{}]*\b(?:URL|href|origin|host|hostname)\b[^{}]*\} = ctx\b/,
    },
    { what: 'loose equality, but with null', pattern: /[^=!<>][=!]=(?!=)\s*(?!\s|null\b)/ },
    // How long it takes tells how much of it is right: digests are looked up, or compared by timingSafeEqual.
    {
      what: 'secrets compared by ===',
      pattern: /\b\w*(?:secret|digest|password)\s*[=!]==\s*(?!undefined|null|true|false)[a-z]/i,
    },
    { what: 'code made of text', pattern: /\beval\(|\bnew Function\(/ },
    { what: 'processes', pattern: /'node:(?:child_process|cluster|vm)'/, but: /^bench\//, everywhere: true },
    {
      what: 'checks switched off without a reason',
      pattern: /@ts-(?:ignore|nocheck|expect-error)|biome-ignore(?! lint\/[\w/]+: \w)/,
      everywhere: true,
    },
  ]

/** What a stranger's plugin begins with is a stranger's. */
const TEMPLATE = /^plugins\/create-umg-plugin\/templates\//

const SOURCES = readSources('{core,plugins,bench}/**/*.{ts,mjs}').filter(({ path }) => !TEMPLATE.test(path))
const CORE = SOURCES.filter(({ path }) => path.startsWith('core/'))
const PLUGINS = SOURCES.filter(({ path }) => path.startsWith('plugins/'))

const rankOf = (path: string): number => ROOMS.indexOf(path.split('/')[1] as (typeof ROOMS)[number])
/** What lies in `core/` itself is a room of its own. */
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

/** Where the code of a file fits a pattern. */
const places = (source: Source, pattern: RegExp, text = source.code): string[] =>
  Array.from(text.matchAll(new RegExp(pattern, `${pattern.flags}g`)), ({ index }) => placeOf(source, index))

/** The circles of a graph: its strongly connected components of more than one node (Tarjan). */
function circlesOf(imports: ReadonlyMap<string, ReadonlySet<string>>): string[][] {
  const order = new Map<string, number>()
  const low = new Map<string, number>()
  const stack: string[] = []
  const circles: string[][] = []
  function visit(node: string): void {
    order.set(node, order.size)
    low.set(node, order.get(node)!)
    stack.push(node)
    for (const target of imports.get(node) ?? []) {
      if (!order.has(target)) visit(target)
      if (stack.includes(target)) low.set(node, Math.min(low.get(node)!, low.get(target)!))
    }
    if (low.get(node) !== order.get(node)) return
    const circle = stack.splice(stack.indexOf(node))
    if (circle.length > 1) circles.push(circle.sort())
  }
  for (const node of imports.keys()) if (!order.has(node)) visit(node)
  return circles
}

describe('the source tree', () => {
  it('is read as its compiler does: every bracket has its pair', () => {
    for (const { path, code } of SOURCES)
      for (const [open, close] of ['()', '[]', '{}']) expect(code.split(open!).length, path).to.equal(code.split(close!).length)
  })

  it('has no file of core outside its rooms', () => {
    expect(paths(CORE.filter(({ path }) => rankOf(path) < 0))).to.deep.equal([])
  })

  it('imports from lower rooms only', () => {
    const upward = ({ path, inner }: Source) =>
      inner.filter((target) => rankOf(target) > rankOf(path)).map((target) => `${path} imports ${target}`)
    expect(CORE.flatMap(upward)).to.deep.equal([])
  })

  it('has no circle of files', () => {
    expect(circlesOf(new Map(SOURCES.map(({ path, inner }) => [path, new Set(inner)])))).to.deep.equal([])
  })

  it('has no circle of folders', () => {
    const folders = new Map<string, Set<string>>()
    for (const { path, inner } of SOURCES) {
      const imported = folders.get(folderOf(path)) ?? new Set()
      folders.set(folderOf(path), imported)
      for (const target of inner) if (folderOf(target) !== folderOf(path)) imported.add(folderOf(target))
    }
    expect(circlesOf(folders)).to.deep.equal([])
  })

  it('has plugins that import their own folder, node:, npm packages and the seam, as a stranger could', () => {
    const foreign = ({ path, inner, imports }: Source) => {
      const allowed = [pluginOf(path), ...wiresOf(path)]
      const outside = inner.filter((target) => !allowed.includes(pluginOf(target)))
      const ours = imports.filter((name) => name.startsWith('unified-model-gateway') && name !== SEAM)
      return [...outside, ...ours].map((target) => `${path} imports ${target}`)
    }
    expect(PLUGINS.flatMap(foreign)).to.deep.equal([])
  })

  it('has providers that import from another only where they speak its wire, and lists no wire that none speaks', () => {
    const spoken = new Set(PLUGINS.flatMap(({ path, inner }) => inner.map((target) => `${folderOf(path)} ${folderOf(target)}`)))
    const listed = Object.keys(WIRES).map((name) => `plugins/providers/${name}`)
    expect(listed.flatMap((own) => wiresOf(own).filter((wire) => !spoken.has(`${own} ${wire}`)))).to.deep.equal([])
  })

  it('tells in docs/architecture.md who speaks whose wire', () => {
    const rows = readText('docs/architecture.md').matchAll(/^\| `([\w-]+)` \| (`[^|]+`) \|/gm)
    const told = Array.from(rows, ([, name, wires]) => [name, wires!.replaceAll('`', '').split(', ')])
    expect(Object.fromEntries(told)).to.deep.equal(WIRES)
  })

  it('exports the seam, and nothing of what is inside', () => {
    const { exports: exported } = JSON.parse(readText('package.json'))
    expect(Object.keys(exported)).to.have.members(['./plugin', './plugin/testing', './package.json'])
  })

  it('names files by what they do', () => {
    const VAGUE = /\/(?:utils?|helpers?|common|misc|shared|lib)(?:\.\w+|\/)/
    expect(paths(SOURCES.filter(({ path }) => VAGUE.test(path)))).to.deep.equal([])
  })

  it('has no barrels: an index is the entry of a plugin', () => {
    expect(paths(SOURCES.filter(({ path }) => /\/index\.\w+$/.test(path) && !ENTRY.test(path)))).to.deep.equal([])
  })

  it(`has files of at most ${MOST_LINES} lines`, () => {
    const long = SOURCES.filter(({ text }) => text.split('\n').length - 1 > MOST_LINES)
    expect(paths(long)).to.deep.equal([])
  })

  for (const { what, pattern, but, everywhere } of BANNED) {
    it(`does without ${what}`, () => {
      const found = SOURCES.filter(({ path }) => !but?.test(path)).flatMap((source) =>
        places(source, pattern, everywhere ? source.text : source.code),
      )
      expect(found).to.deep.equal([])
    })
  }

  it('has tests that close only what was opened: where `before` fails, `after` does not fail for want of it', () => {
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

  it('says of everything that it exports what it is', () => {
    const EXPORTED = /^export (?:default )?(?:abstract )?(?:async )?(?:const|function\*?|class|interface|type(?! [{*]))\b/m
    const silent = (source: Source) =>
      [...source.code.matchAll(new RegExp(EXPORTED, 'gm'))]
        .filter(({ index }) => !source.text.slice(0, index).trimEnd().endsWith('*/'))
        .map(({ index }) => placeOf(source, index))
    expect([...CORE, ...PLUGINS].flatMap(silent)).to.deep.equal([])
  })

  it('has switched on what its tools see and this test does not', () => {
    expect(readText('tsconfig.json'))
      .to.match(/"strict": true/)
      .and.to.match(/"erasableSyntaxOnly": true/)
    expect(JSON.parse(readText('biome.json')).linter.rules.suspicious).to.include({ noExplicitAny: 'error', noConsole: 'error' })
  })
})
