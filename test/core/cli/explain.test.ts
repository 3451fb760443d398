import { expect } from 'chai'
import { type ExplainOptions, explain } from '../../../core/cli/config/explain.ts'
import type { AssumedCause } from '../../../core/config/schema/retry-causes.ts'
import { createKey, revokeKey } from '../../../core/keys/keys.ts'
import { openStore } from '../../../core/store/database.ts'
import { type CommandRun, runCommand } from '../../support/run-command.ts'
import { type TemporaryFolder, temporaryFolder } from '../config/temporary-folder.ts'
import { ACME_ENV, ACME_TABLE } from './acme-table.ts'

describe('umg explain', () => {
  let folder: TemporaryFolder
  let routes: string
  let database: string

  before(() => {
    folder = temporaryFolder()
    routes = folder.write('routes.yaml', ACME_TABLE)
    database = `sqlite:${folder.path}/keys.db`
  })

  after(() => folder?.remove())

  /** Runs the command, and removes the name of the folder from its output. */
  async function explainModel(model: string, options: Partial<ExplainOptions> = {}): Promise<CommandRun> {
    const all: ExplainOptions = { routes, data: 'unused', database, ...options }
    const { code, stdout, stderr } = await runCommand((io) => explain(model, all, io), ACME_ENV)
    const plain = (text: string) => text.replaceAll(`${folder.path}/`, '')
    return { code, stdout: plain(stdout), stderr: plain(stderr) }
  }

  const failing = (...causes: [string, AssumedCause][]) => ({ failing: new Map(causes) })

  it('shows every step from the alias to the limits of the key, each with its line, without secrets', async () => {
    const { code, stdout, stderr } = await explainModel('gpt-4o', { key: 'nightly' })
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' })
    expect(stdout).to.equal(`gpt-4o is an alias of acme/smart                                        routes.yaml:41
acme/smart                                                              routes.yaml:29
   75 %  openai/gpt-5.5 (openai-compatible)                             routes.yaml:31
   25 %  acme/spare                                                     routes.yaml:32
           any  local/qwen3 (openai-compatible)                         routes.yaml:37
           any  local/mistral (openai-compatible)                       routes.yaml:37
         choose: busy                                                   routes.yaml:38
   then  claude/claude-sonnet-5 (left out: not set: ANTHROPIC_API_KEY)  routes.yaml:33
   then  acme/asleep (left out: not set: ANTHROPIC_API_KEY)             routes.yaml:33
  retry: { attempts: 2 }                                                routes.yaml:34
  sticky: session                                                       by default
  defaults: { temperature: 0.2, user: "\${env:WHO}" }                    routes.yaml:35

chain, for the live key routes:nightly (nightly)
  auth                                                                  routes.yaml:3
  rate-tagging                                                          routes.yaml:4
    batch.tokens: 5M/day                                                routes.yaml:9
    batch.concurrent: 2                                                 routes.yaml:10
  header-stamping (not for this namespace)                              routes.yaml:12
`)
  })

  it('shows the limits of the default class and the default retries if no key is named', async () => {
    const { stdout } = await explainModel('acme/spare')
    expect(stdout).to.match(/^ {2}retry: \{ attempts: 3 \} +by default$/m)
    expect(stdout).to.match(/^chain, for a live key that names no class$/m)
    expect(stdout).to.match(/^ {4}standard\.requests: 60\/min +routes\.yaml:7$/m)
  })

  it('shows a model of an upstream at the line of its namespace, and the links that see it', async () => {
    const { stdout } = await explainModel('openai/o4-mini')
    expect(stdout).to.match(/^openai\/o4-mini \(openai-compatible\) +routes\.yaml:16$/m)
    expect(stdout).to.match(/^ {2}header-stamping +routes\.yaml:12$/m)
  })

  it('names the credentials that share the calls of a namespace', async () => {
    const pooled = folder.write(
      'pooled.yaml',
      `version: 1
namespaces:
  far:
    provider: openai-compatible
    config: { preset: openai }
    credentials: { first: { apiKey: "\${env:WHO}" }, second: { apiKey: "\${env:WHO}" } }
`,
    )
    const { stdout } = await explainModel('far/m', { routes: pooled })
    expect(stdout).to.match(/^far\/m \(openai-compatible, by session, else by turns, with first, second\) +pooled\.yaml:3$/m)
  })

  it('shows the limits of the namespaces that serve calls, and where calls go when they are reached', async () => {
    const table = ACME_TABLE.replace('  openai:\n', '  openai:\n    limits: { requests: 500/min }\n')
    const limited = folder.write('limited.yaml', table)
    const { stdout } = await explainModel('acme/smart', { routes: limited, ...failing(['openai', 'limited']) })
    expect(stdout).to.match(/^ {9}limits: \{ requests: 500\/min \} +limited\.yaml:\d+$/m)
    expect(stdout.split('\n\n').at(-1))
      .to.match(/^ +\d+ % {2}local\/qwen3$/m)
      .and.not.contain('openai/')
    const { stdout: own } = await explainModel('openai/o4-mini', { routes: limited })
    expect(own).to.match(/^ {2}limits: \{ requests: 500\/min \} +limited\.yaml:\d+$/m)
  })

  it('shows the provider that serves a test key', async () => {
    const { stdout } = await explainModel('acme/smart', { key: 'tester' })
    expect(stdout).to.contain('openai/gpt-5.5 (sandbox)').and.contain('claude/claude-sonnet-5 (sandbox)')
  })

  it('shows what the account of a key allows', async () => {
    const { code, stdout } = await explainModel('acme/smart', { key: 'teamed' })
    expect(code).to.equal(1)
    expect(stdout).to.contain('the key may not call acme/smart: only local/*')
    expect((await explainModel('local/qwen3', { key: 'teamed' })).stdout).to.contain('batch.tokens: 5M/day')
  })

  it('shows the ways that calls go while upstreams fail', async () => {
    const { code, stdout } = await explainModel('acme/smart', failing(['openai', '5xx'], ['local/qwen3', 'timeout']))
    expect(code).to.equal(0)
    const ways = stdout.split('\n\n').at(-1)!.trimEnd().split('\n')
    expect(ways.map((way) => way.replace(/^ *\d+ % +/, '')).sort()).to.deep.equal([
      'local/mistral',
      'local/qwen3 (timeout) → local/mistral',
      'openai/gpt-5.5 (5xx) → local/mistral',
      'openai/gpt-5.5 (5xx) → local/qwen3 (timeout) → upstream_timeout',
      'where openai fails (5xx) and local/qwen3 fails (timeout)',
    ])
    const shares = ways.slice(1).map((way) => Number.parseInt(way, 10))
    expect(shares.reduce((sum, share) => sum + share)).to.be.within(98, 102)
  })

  it('prints the same as JSON', async () => {
    const { stdout } = await explainModel('gpt-4o', { key: 'nightly', json: true, ...failing(['openai', '429']) })
    const { alias, model, key, chain, failing: supposed, ways } = JSON.parse(stdout)
    expect(alias).to.deep.equal({ of: 'acme/smart', at: 'routes.yaml:41' })
    expect(model.targets[0]).to.deep.equal({
      id: 'openai/gpt-5.5',
      at: 'routes.yaml:31',
      share: 0.75,
      provider: 'openai-compatible',
    })
    expect(key).to.deep.equal({ id: 'routes:nightly', name: 'nightly', kind: 'live', account: 'default' })
    expect(chain[2]).to.include({ plugin: 'header-stamping', sees: false })
    expect(supposed).to.deep.equal({ openai: '429' })
    expect(ways[0]).to.have.keys('share', 'attempts', 'end')
  })

  for (const [model, why] of [
    ['gpt-4', 'there is no alias "gpt-4"; did you mean "gpt-4o"?'],
    ['smart', 'there is no alias "smart"; did you mean "acme/smart"?'],
    ['opnai/gpt-5.5', 'there is no namespace "opnai"; did you mean "openai"?'],
    ['acme/smrat', '"acme" has no curated model "smrat"; did you mean "acme/smart"?'],
    ['openai/gpt-5.6', '"openai" does not allow the model "gpt-5.6"; did you mean "gpt-5.5"?'],
    ['claude/claude-sonnet-5', 'claude/claude-sonnet-5 is left out: not set: ANTHROPIC_API_KEY'],
    ['acme/asleep', 'acme/asleep is left out: not set: ANTHROPIC_API_KEY'],
  ] as const) {
    it(`shows why ${model} is refused`, async () => {
      const { code, stdout } = await explainModel(model)
      expect(code).to.equal(1)
      expect(stdout.split('\n', 1)[0]).to.equal(`${model} is refused: ${why}`)
    })
  }

  it('shows that a key may not call a model', async () => {
    const { code, stdout } = await explainModel('openai/gpt-5.5', { key: 'nightly' })
    expect(code).to.equal(1)
    expect(stdout).to.match(/^openai\/gpt-5\.5 is refused: the key may not call openai\/gpt-5\.5: only acme\/\*$/m)
  })

  describe('with a key of the store', () => {
    it('finds it by its id', async () => {
      const store = await openStore(database)
      const { key } = await createKey(store, { name: 'laptop', kind: 'live', models: ['acme/*'], rateClass: 'batch' })
      await store.close()
      const { code, stdout } = await explainModel('acme/smart', { key: key.id })
      expect(code).to.equal(0)
      expect(stdout).to.contain(`chain, for the live key ${key.id} (laptop)`).and.contain('batch.tokens: 5M/day')
    })

    it('shows that a link refuses the key', async () => {
      const store = await openStore(database)
      const { key } = await createKey(store, { name: 'lost', kind: 'live', rateClass: 'gone' })
      await store.close()
      expect((await explainModel('acme/smart', { key: key.id })).stdout).to.match(
        /rate-tagging: refuses the key: Your key names the rate class `gone`/,
      )
    })

    it('refuses a key that is revoked or unknown', async () => {
      const store = await openStore(database)
      const { key } = await createKey(store, { name: 'old', kind: 'live' })
      await revokeKey(store, key.id)
      await store.close()
      for (const id of [key.id, 'key_nobody']) {
        const { code, stdout, stderr } = await explainModel('acme/smart', { key: id })
        expect({ code, stdout }).to.deep.equal({ code: 2, stdout: '' })
        expect(stderr).to.contain('there is no such key, or it is revoked')
      }
    })
  })

  it('notes that a key has expired', async () => {
    expect((await explainModel('acme/smart', { key: 'lost' })).stderr).to.equal(
      'note: the key has expired: its calls are refused\n',
    )
  })

  it('refuses to assume that an unknown namespace fails', async () => {
    const { code, stderr } = await explainModel('acme/smart', failing(['opnai', '429']))
    expect(code).to.equal(2)
    expect(stderr).to.equal('--failing: there is no upstream "opnai"; did you mean "openai"?\n')
  })

  it('prints only the errors of a table that is not valid', async () => {
    const broken = folder.write('broken.yaml', 'version: 2\nnamespaces: {}\n')
    const { code, stdout, stderr } = await explainModel('acme/smart', { routes: broken })
    expect({ code, stdout }).to.deep.equal({ code: 2, stdout: '' })
    expect(stderr).to.contain('broken.yaml:1:10: version must be 1')
  })
})
