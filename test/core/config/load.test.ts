import { createHash } from 'node:crypto'
import { expect } from 'chai'
import { Secret } from 'unified-model-gateway/plugin'
import { loadConfig } from '../../../core/config/load.ts'
import { ConfigError } from '../../../core/text/diagnostic.ts'
import { FULL_ENV, FULL_TABLE, plugin } from './full-table.ts'
import { type TemporaryFolder, temporaryFolder } from './temporary-folder.ts'

const HASH = '0123456789abcdef'.repeat(4)

const lineOf = (text: string): number => FULL_TABLE.slice(0, FULL_TABLE.indexOf(text)).split('\n').length

describe('a routes.yaml that is right', () => {
  let folder: TemporaryFolder

  beforeEach(() => {
    folder = temporaryFolder()
    folder.write('west.txt', 'value-of-the-file\n')
  })

  afterEach(() => folder.remove())

  const load = (text: string, env: NodeJS.ProcessEnv = FULL_ENV) => loadConfig(folder.write('routes.yaml', text), env)
  const upstream = (rest = '') =>
    `version: 1\nnamespaces:\n  east:\n    provider: ${plugin('upstream')}\n    config: { apiKey: "\${env:UPSTREAM_KEY}" }\n${rest}`

  it('gives its links in the order written', async () => {
    const config = await load(FULL_TABLE)
    expect(config.chain.map((link) => link.plugin.name)).to.deep.equal(['auth', 'audit'])
    expect(config.chain[1]).to.deep.include({
      config: { sink: 'stdout', level: 'full', sample: 0.5, fields: ['model', 'status'], rotate: { lines: 100, keep: 3 } },
      when: { namespaces: ['east', 'west'] },
      at: { file: `${folder.path}/routes.yaml`, line: 4, column: 5 },
    })
    expect(config.chain[0]).not.to.have.property('when')
  })

  it('may name the same plugin twice, each link with its own config', async () => {
    const link = (sink: string) => `  - { plugin: ${plugin('audit')}, config: { sink: ${sink} } }\n`
    const config = await load(`version: 1\nchain:\n${link('one')}${link('two')}namespaces: {}\n`)
    expect(config.chain.map((each) => each.config)).to.deep.equal([
      { sink: 'one', level: 'terse' },
      { sink: 'two', level: 'terse' },
    ])
  })

  it('gives its namespaces with their limits and deadlines in milliseconds', async () => {
    const config = await load(FULL_TABLE)
    expect([...config.namespaces.keys()]).to.deep.equal(['east', 'west'])
    expect([...config.curated.keys()]).to.deep.equal(['acme'])
    expect(config.namespaces.get('east')).to.deep.include({
      name: 'east',
      models: ['large', 'small-*'],
      timeouts: { connect: 500, firstByte: 30_000, idle: 120_000, total: 3_600_000 },
      testKeys: 'upstream',
      at: { file: `${folder.path}/routes.yaml`, line: 14, column: 3 },
    })
    expect(config.namespaces.get('east')?.plugin).to.include({ kind: 'provider', name: 'upstream' })
  })

  it('has defaults where it is silent', async () => {
    const config = await load(upstream())
    const east = config.namespaces.get('east')
    expect(east).to.deep.include({
      timeouts: { connect: 10_000, firstByte: 300_000, idle: 120_000, total: 900_000 },
      testKeys: 'sandbox',
    })
    expect(east).not.to.have.any.keys('models', 'dormant')
    expect(east?.config).to.have.property('retries', 2)
    expect(config).to.deep.include({ chain: [], keys: [], aliases: new Map() })
  })

  it('gives its aliases and keys', async () => {
    const config = await load(FULL_TABLE)
    expect([...config.aliases]).to.deep.equal([['gpt-4o', 'east/large']])
    expect(config.keys).to.deep.equal([
      {
        name: 'nightly',
        digest: HASH,
        kind: 'live',
        models: ['east/*'],
        rateClass: 'batch',
        expires: Date.UTC(2027, 0, 31),
        at: { file: `${folder.path}/routes.yaml`, line: lineOf('- name: nightly'), column: 5 },
      },
    ])
  })

  it('may give a key no class and no end, and its hash in capitals', async () => {
    const key = `{ name: nightly, hash: "sha256:${HASH.toUpperCase()}", kind: test, models: ["*"] }`
    const config = await load(`version: 1\nnamespaces: {}\nkeys: [${key}]\n`)
    expect(config.keys[0]).to.include({ digest: HASH, kind: 'test' })
    expect(config.keys[0]).not.to.have.any.keys('rateClass', 'expires')
  })

  it('may end a key at an instant of any zone', async () => {
    const key = (expires: string) =>
      `{ name: "${expires}", hash: "sha256:${expires.length.toString(16).padStart(64, '0')}", kind: test, models: ["*"], expires: ${expires} }`
    const config = await load(
      `version: 1\nnamespaces: {}\nkeys: [${key('2027-01-31T14:30:00+02:00')}, ${key('2027-01-31T12:30Z')}]\n`,
    )
    expect(config.keys.map(({ expires }) => expires)).to.deep.equal([
      Date.UTC(2027, 0, 31, 12, 30),
      Date.UTC(2027, 0, 31, 12, 30),
    ])
  })

  it('is known by its absolute path and the digest of its text', async () => {
    const config = await load(FULL_TABLE)
    expect(config.file).to.equal(`${folder.path}/routes.yaml`)
    expect(config.sha256).to.equal(createHash('sha256').update(FULL_TABLE).digest('hex'))
  })

  it('hands secrets to plugins sealed', async () => {
    const config = await load(FULL_TABLE)
    const { apiKey } = config.namespaces.get('east')!.config as { apiKey: Secret }
    expect(apiKey).to.be.instanceOf(Secret)
    expect(apiKey.reveal()).to.equal(FULL_ENV.UPSTREAM_KEY)
    const west = config.namespaces.get('west')!.config as { apiKey: Secret }
    expect(west.apiKey.reveal()).to.equal('value-of-the-file')
    expect(JSON.stringify([...config.namespaces])).not.to.contain('value-of')
  })

  it('may share a part by an alias, which each place fills in for itself', async () => {
    const config = await load(
      upstream(
        `    timeouts: &slow { total: 1h }\n  west:\n    provider: ${plugin('upstream')}\n    timeouts: *slow\n    config: &west { apiKey: "\${file:west.txt}" }\n  north:\n    provider: ${plugin('upstream')}\n    config: *west\n`,
      ),
    )
    expect(config.namespaces.get('west')?.timeouts).to.deep.equal(config.namespaces.get('east')?.timeouts)
    const keys = ['west', 'north'].map((name) => (config.namespaces.get(name)!.config as { apiKey: Secret }).apiKey.reveal())
    expect(keys).to.deep.equal(['value-of-the-file', 'value-of-the-file'])
  })

  it('may take names that JavaScript has a use for', async () => {
    const config = await load(
      upstream(
        `  constructor:\n    provider: ${plugin('upstream')}\n    config: { apiKey: "\${env:UPSTREAM_KEY}", headers: { __proto__: a, toString: b } }\naliases: { __proto__: constructor/x }\n`,
      ),
    )
    expect(config.namespaces.get('constructor')).to.have.property('name', 'constructor')
    expect(config.aliases.get('__proto__')).to.equal('constructor/x')
  })

  it('may lead a curated model to 1000 targets, those of its curated models among them included, and to no more', async () => {
    const targets = (count: number, model: (n: number) => string) =>
      `{ targets: [${Array.from({ length: count }, (_, n) => `{ model: ${model(n)} }`).join(', ')}] }`
    const inner = Array.from({ length: 25 }, (_, n) => `      part-${n}: ${targets(39, (m) => `east/${n}-${m}`)}\n`).join('')
    // 25, and of each of them 39.
    const whole = (more: number) => targets(25 + more, (n) => (n < 25 ? `acme/part-${n}` : `east/more-${n}`))
    const table = (more: number) => upstream(`  acme:\n    models:\n${inner}      whole: ${whole(more)}\n`)
    expect((await load(table(0))).curated.get('acme')?.routes.get('whole')?.targets).to.have.length(25)
    const error: unknown = await load(table(1)).catch((reason: unknown) => reason)
    expect((error as Error).message).to.match(
      /routes\.yaml:33:7: namespaces\.acme\.models\.whole leads to more than 1000 targets/,
    )
  })

  describe('with an optional namespace', () => {
    const table = upstream('    optional: true\naliases: { small: east/small }\n')

    it('that has what it needs uses it', async () => {
      const config = await load(table)
      expect(config.namespaces.get('east')).not.to.have.property('dormant')
      expect(config.notices.join()).not.to.contain('east')
    })

    it('that lacks a variable leaves it out and says what to set', async () => {
      const config = await load(table, {})
      expect(config.namespaces.get('east')).to.include({ dormant: 'UPSTREAM_KEY', config: undefined })
      expect(config.notices).to.include('the namespace "east" is left out; to use it, set UPSTREAM_KEY')
    })

    it('that lacks a variable is checked in all else', async () => {
      const error: unknown = await load(table.replace('config: {', 'config: { regoin: east,'), {}).catch(
        (reason: unknown) => reason,
      )
      expect((error as ConfigError).diagnostics.map(({ message }) => message)).to.deep.equal([
        'unknown field "regoin" in namespaces.east.config; did you mean "region"?',
      ])
    })
  })

  it('without auth says that every call will be refused', async () => {
    expect((await load(FULL_TABLE)).notices).to.deep.equal([])
    expect((await load(upstream())).notices.join()).to.match(/no "auth": every call is refused/)
  })
})

describe('a routes.yaml that cannot be read', () => {
  it('is refused by its name', async () => {
    const error: unknown = await loadConfig('no/such/routes.yaml', {}).catch((reason: unknown) => reason)
    expect(error).to.be.instanceOf(ConfigError)
    expect((error as Error).message).to.equal('no/such/routes.yaml:1:1: the file does not exist')
  })

  it('is refused with the reason of the system', async () => {
    const error: unknown = await loadConfig('.', {}).catch((reason: unknown) => reason)
    expect((error as Error).message).to.equal('.:1:1: the file cannot be read (EISDIR)')
  })
})
