import { expect } from 'chai'
import { placeOf, readSources, readText, type Source } from './support/sources.ts'

/** The rooms of core by rank: a file imports from its own rank and from those before it. */
const RANKS = [
  /^core\/(errors|suggest|glob|batch|roster|watch|node-version)\.|^core\/json\/|^core\/plugin\/(api|base-url|chat|chunk|conversation|data-url|embeddings|facts|fates|faults|json|translated|refusal|secret|template|tool-choice|misuse|pages|plugin-fault|within)[./]/,
  /^core\/(config|store|observe|workers)\/|^core\/plugin\/(plugin-error|locate|resolve-seam|registry|guard|instances|fingerprint|local-modules)\./,
  /^core\/(keys|accounts|usage|limits|upstream)\//,
  /^core\/routing\/|^core\/plugin\/host\./,
  /^core\/(generation|services)\./,
  /^core\/(http\/|reload\.|load-table\.|route-defaults\.)/,
  /^core\/(commands\/|gateway\.)/,
  /^core\/(main|umg)\.|^core\/plugin\/testing[./]/,
]

const SEAM = 'unified-model-gateway/plugin'
/** Providers whose upstreams speak another provider's wire too: they may import from its folder. */
const WIRES: Readonly<Record<string, readonly string[]>> = {
  'azure-openai': ['openai-compatible'],
  bedrock: ['anthropic', 'cohere'],
  vertex: ['anthropic', 'gemini'],
}
const ENTRY = /^plugins\/(?:chain|providers)\/[\w-]+\/index\.ts$/

const MOST_LINES = 250
/** May be longer, each for its reason. */
const LONG: Readonly<Record<string, string>> = {
  'core/plugin/api.ts': 'the seam is one text that plugin authors read from top to bottom',
  'core/errors.ts': 'the table of errors is one table',
}

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

/** The folder of a plugin, of any path in it. */
const folderOf = (path: string): string => path.split('/').slice(0, 3).join('/')

/** The folders of other providers that a plugin may import from. */
const wiresOf = (path: string): string[] => (WIRES[path.split('/')[2]!] ?? []).map((name) => `plugins/providers/${name}`)

const rankOf = (path: string): number => RANKS.findIndex((rooms) => rooms.test(path))
const paths = (sources: readonly Source[]): string[] => sources.map(({ path }) => path)

/** Where the code of a file fits a pattern. */
const places = (source: Source, pattern: RegExp, text = source.code): string[] =>
  Array.from(text.matchAll(new RegExp(pattern, `${pattern.flags}g`)), ({ index }) => placeOf(source, index))

describe('the house', () => {
  it('is read as its compiler does: every bracket has its pair', () => {
    for (const { path, code } of SOURCES)
      for (const [open, close] of ['()', '[]', '{}']) expect(code.split(open!).length, path).to.equal(code.split(close!).length)
  })

  it('has a rank for every file of core', () => {
    expect(paths(CORE.filter(({ path }) => rankOf(path) < 0))).to.deep.equal([])
  })

  it('imports downwards', () => {
    const upward = ({ path, inner }: Source) =>
      inner.filter((target) => rankOf(target) > rankOf(path)).map((target) => `${path} imports ${target}`)
    expect(CORE.flatMap(upward)).to.deep.equal([])
  })

  it('imports in no circle', () => {
    const byPath = new Map(SOURCES.map((source) => [source.path, source]))
    const done = new Set<string>()
    function visit(path: string, way: readonly string[]): void {
      expect(way, 'a circle').to.not.include(path)
      if (done.has(path)) return
      for (const target of byPath.get(path)?.inner ?? []) visit(target, [...way, path])
      done.add(path)
    }
    for (const path of byPath.keys()) visit(path, [])
  })

  it('has plugins that import their own folder, node:, npm packages and the seam, as a stranger could', () => {
    const foreign = ({ path, inner, imports }: Source) => {
      const allowed = [folderOf(path), ...wiresOf(path)]
      const outside = inner.filter((target) => !allowed.includes(folderOf(target)))
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
    expect(paths(long)).to.have.members(Object.keys(LONG))
  })

  for (const { what, pattern, but, everywhere } of BANNED) {
    it(`does without ${what}`, () => {
      const found = SOURCES.filter(({ path }) => !but?.test(path)).flatMap((source) =>
        places(source, pattern, everywhere ? source.text : source.code),
      )
      expect(found).to.deep.equal([])
    })
  }

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
