import { expect } from 'chai'
import { placeOf, readSources, readText, type Source } from './support/sources.ts'

/** The rooms of core by rank: a file imports from its own rank and from those before it. */
const RANKS = [
  /^core\/(errors|suggest|glob|batch|roster|watch|node-version)\.|^core\/json\/|^core\/plugin\/(api|chat|chunk|data-url|embeddings|facts|fates|faults|json|translated|refusal|secret|template|tool-choice|misuse|plugin-fault|within)[./]/,
  /^core\/(config|store|observe|workers)\/|^core\/plugin\/(plugin-error|locate|resolve-seam|registry|guard|instances|fingerprint|local-modules)\./,
  /^core\/(keys|accounts|usage|limits|upstream)\//,
  /^core\/routing\/|^core\/plugin\/host\./,
  /^core\/(generation|services)\./,
  /^core\/(http\/|reload\.|load-table\.|route-defaults\.)/,
  /^core\/(commands\/|gateway\.)/,
  /^core\/(main|umg)\.|^core\/plugin\/testing[./]/,
]

const SEAM = 'unified-model-gateway/plugin'
/** What providers share of a wire they both speak, as a stranger's provider may too. */
const SHARED_WIRE = /^unified-model-gateway\/providers\/[\w-]+$/
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

  it('has plugins that a stranger could have written: they import their own folder, node:, npm packages and the seam', () => {
    const foreign = ({ path, inner, imports }: Source) => {
      const own = path.split('/').slice(0, 3).join('/')
      const outside = inner.filter((target) => !target.startsWith(`${own}/`))
      const ours = imports.filter((name) => name.startsWith('unified-model-gateway') && name !== SEAM && !SHARED_WIRE.test(name))
      return [...outside, ...ours].map((target) => `${path} imports ${target}`)
    }
    expect(PLUGINS.flatMap(foreign)).to.deep.equal([])
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
