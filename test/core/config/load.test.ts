import { createHash } from 'node:crypto'
import { expect } from 'chai'
import { Secret } from 'unified-model-gateway/plugin'
import { loadConfig } from '../../../core/config/load.ts'
import { ConfigError } from '../../../core/text/diagnostic.ts'
import { FULL_CONFIG, FULL_ENV, plugin } from './full-config.ts'
import { type TemporaryFolder, temporaryFolder } from './temporary-folder.ts'

const HASH = '0123456789abcdef'.repeat(4)

const lineOf = (text: string): number => FULL_CONFIG.slice(0, FULL_CONFIG.indexOf(text)).split('\n').length

describe('the Config of a valid routes.yaml', () => {
  let folder: TemporaryFolder

  beforeEach(() => {
    folder = temporaryFolder()
    folder.write('west.txt', 'value-of-the-file\n')
  })

  afterEach(() => folder?.remove())

  const load = (text: string, env: NodeJS.ProcessEnv = FULL_ENV) => loadConfig(folder.write('routes.yaml', text), env)
  const upstream = (rest = '') =>
    `version: 1\nnamespaces:\n  east:\n    provider: ${plugin('upstream')}\n    config: { apiKey: "\${env:UPSTREAM_KEY}" }\n${rest}`

  it('has the links in the order of the file', async () => {
    const config = await load(FULL_CONFIG)
    expect(config.chain.map((link) => link.plugin.name)).to.deep.equal(['auth', 'audit'])
    expect(config.chain[1]).to.deep.include({
      config: { sink: 'stdout', level: 'full', sample: 0.5, fields: ['model', 'status'], rotate: { lines: 100, keep: 3 } },
      when: {
        namespaces: ['east', 'west'],
        endpoints: ['responses'],
        accounts: ['research'],
        keys: ['routes:nightly'],
        tags: { job: 'nightly' },
        headers: { 'x-team': 'search' },
      },
      at: { file: `${folder.path}/routes.yaml`, line: 4, column: 5 },
    })
    expect(config.chain[0]).not.to.have.property('when')
  })

  it('may have two links of one plugin, each with its own config', async () => {
    const link = (sink: string) => `  - { plugin: ${plugin('audit')}, config: { sink: ${sink} } }\n`
    const config = await load(`version: 1\nchain:\n${link('one')}${link('two')}namespaces: {}\n`)
    expect(config.chain.map((each) => each.config)).to.deep.equal([
      { sink: 'one', level: 'terse' },
      { sink: 'two', level: 'terse' },
    ])
  })

  it('has the namespaces with their timeouts in milliseconds', async () => {
    const config = await load(FULL_CONFIG)
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

  it('has defaults for absent fields', async () => {
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

  it('has the aliases, accounts and keys', async () => {
    const config = await load(FULL_CONFIG)
    expect([...config.accounts.values()]).to.deep.equal([
      {
        id: 'research',
        models: ['east/*'],
        rateClass: 'batch',
        tags: { team: 'vision' },
        budgets: [
          { nanoUsd: 30_000_000_000, per: 'day' },
          { nanoUsd: 500_000_000_000, per: 'month' },
        ],
        at: { file: `${folder.path}/routes.yaml`, line: lineOf('  research:'), column: 3 },
      },
    ])
    expect([...config.aliases]).to.deep.equal([['gpt-4o', 'east/large']])
    expect(config.keys).to.deep.equal([
      {
        name: 'nightly',
        digest: HASH,
        kind: 'live',
        account: 'research',
        tags: { job: 'nightly' },
        models: ['east/*'],
        rateClass: 'batch',
        expires: Date.UTC(2027, 0, 31),
        budgets: [{ nanoUsd: 20_500_000_000, per: 'day' }],
        at: { file: `${folder.path}/routes.yaml`, line: lineOf('- name: nightly'), column: 5 },
      },
    ])
  })

  it('may have a key without a class and an expiry, with a hash in capitals', async () => {
    const key = `{ name: nightly, hash: "sha256:${HASH.toUpperCase()}", kind: test, models: ["*"] }`
    const config = await load(`version: 1\nnamespaces: {}\nkeys: [${key}]\n`)
    expect(config.keys[0]).to.include({ digest: HASH, kind: 'test' })
    expect(config.keys[0]).not.to.have.any.keys('rateClass', 'expires')
  })

  it('may have a key that expires at a time of any zone', async () => {
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

  it('has its absolute path and the digest of its text', async () => {
    const config = await load(FULL_CONFIG)
    expect(config.file).to.equal(`${folder.path}/routes.yaml`)
    expect(config.sha256).to.equal(createHash('sha256').update(FULL_CONFIG).digest('hex'))
  })

  it('has its secrets as Secret', async () => {
    const config = await load(FULL_CONFIG)
    const { apiKey } = config.namespaces.get('east')!.config as { apiKey: Secret }
    expect(apiKey).to.be.instanceOf(Secret)
    expect(apiKey.reveal()).to.equal(FULL_ENV.UPSTREAM_KEY)
    const west = config.namespaces.get('west')!.config as { apiKey: Secret }
    expect(west.apiKey.reveal()).to.equal('value-of-the-file')
    expect(JSON.stringify([...config.namespaces])).not.to.contain('value-of')
  })

  it('may have values that share a YAML alias', async () => {
    const config = await load(
      upstream(
        `    timeouts: &slow { total: 1h }\n  west:\n    provider: ${plugin('upstream')}\n    timeouts: *slow\n    config: &west { apiKey: "\${file:west.txt}" }\n  north:\n    provider: ${plugin('upstream')}\n    config: *west\n`,
      ),
    )
    expect(config.namespaces.get('west')?.timeouts).to.deep.equal(config.namespaces.get('east')?.timeouts)
    const keys = ['west', 'north'].map((name) => (config.namespaces.get(name)!.config as { apiKey: Secret }).apiKey.reveal())
    expect(keys).to.deep.equal(['value-of-the-file', 'value-of-the-file'])
  })

  it('may have names that are special in JavaScript', async () => {
    const config = await load(
      upstream(
        `  constructor:\n    provider: ${plugin('upstream')}\n    config: { apiKey: "\${env:UPSTREAM_KEY}", headers: { __proto__: a, toString: b } }\naliases: { __proto__: constructor/x }\n`,
      ),
    )
    expect(config.namespaces.get('constructor')).to.have.property('name', 'constructor')
    expect(config.aliases.get('__proto__')).to.equal('constructor/x')
  })

  it('may have a curated model with 1000 targets, those of nested curated models included, and no more', async () => {
    const targets = (count: number, model: (n: number) => string) =>
      `{ targets: [${Array.from({ length: count }, (_, n) => `{ model: ${model(n)} }`).join(', ')}] }`
    const inner = Array.from({ length: 25 }, (_, n) => `      part-${n}: ${targets(39, (m) => `east/${n}-${m}`)}\n`).join('')
    // 25, and of each of them 39.
    const whole = (more: number) => targets(25 + more, (n) => (n < 25 ? `acme/part-${n}` : `east/more-${n}`))
    const text = (more: number) => upstream(`  acme:\n    models:\n${inner}      whole: ${whole(more)}\n`)
    expect((await load(text(0))).curated.get('acme')?.routes.get('whole')?.targets).to.have.length(25)
    const error: unknown = await load(text(1)).catch((reason: unknown) => reason)
    expect((error as Error).message).to.match(
      /routes\.yaml:33:7: namespaces\.acme\.models\.whole leads to more than 1000 targets/,
    )
  })

  describe('with an optional namespace', () => {
    const text = upstream('    optional: true\naliases: { small: east/small }\n')

    it('whose variables are set includes it', async () => {
      const config = await load(text)
      expect(config.namespaces.get('east')).not.to.have.property('dormant')
      expect(config.notices.join()).not.to.contain('east')
    })

    it('whose variable is not set leaves it out, with a notice', async () => {
      const config = await load(text, {})
      expect(config.namespaces.get('east')).to.include({ dormant: 'UPSTREAM_KEY', config: undefined })
      expect(config.notices).to.include('the namespace "east" is left out; to use it, set UPSTREAM_KEY')
    })

    it('whose variable is not set is also checked', async () => {
      const error: unknown = await load(text.replace('config: {', 'config: { regoin: east,'), {}).catch(
        (reason: unknown) => reason,
      )
      expect((error as ConfigError).diagnostics.map(({ message }) => message)).to.deep.equal([
        'unknown field "regoin" in namespaces.east.config; did you mean "region"?',
      ])
    })
  })

  it('without auth has a notice that every call is refused', async () => {
    expect((await load(FULL_CONFIG)).notices).to.deep.equal([])
    expect((await load(upstream())).notices.join()).to.match(/no "auth": every call is refused/)
  })
})

describe('a routes.yaml that cannot be read', () => {
  it('is an error if it does not exist', async () => {
    const error: unknown = await loadConfig('no/such/routes.yaml', {}).catch((reason: unknown) => reason)
    expect(error).to.be.instanceOf(ConfigError)
    expect((error as Error).message).to.equal('no/such/routes.yaml: the file does not exist')
  })

  it('is an error with the reason of the file system', async () => {
    const error: unknown = await loadConfig('.', {}).catch((reason: unknown) => reason)
    expect((error as Error).message).to.equal('.: the file cannot be read (EISDIR)')
  })
})
