import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { stringify } from 'yaml'
import { editAccount } from '../../../core/accounts/accounts.ts'
import { GATEWAY } from '../../../core/accounts/audit.ts'
import { createFirstAccess, formatWelcome } from '../../../core/cli/start/first-start.ts'
import { type Gateway, startGateway } from '../../../core/gateway/gateway.ts'
import { createLog } from '../../../core/observe/log.ts'
import { openStore, type Store } from '../../../core/store/database.ts'
import { json, type ScriptedUpstream, scriptedUpstream } from '../../../core/testing/kit.ts'

const AUTH = { plugin: 'auth' }
const SANDBOX = { provider: 'sandbox' }
/** `UPSTREAM` stands for the origin of the test's upstream. */
const paid = (more: object = {}) => ({ provider: 'openai-compatible', config: { baseUrl: 'UPSTREAM/v1' }, ...more })
const dormant = (more: object = {}) => ({
  provider: 'openai-compatible',
  optional: true,
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the syntax of routes.yaml
  config: { preset: 'openai', apiKey: '${env:OPENAI_API_KEY}' },
  ...more,
})
const curated = (targets: readonly string[], fallbacks: readonly string[] = []) => ({
  models: { smart: { targets: targets.map((model) => ({ model })), fallbacks } },
})

const FREE = 'answered by the sandbox, offline and free)'

describe('the text of the first start', () => {
  let folder: string
  let upstream: ScriptedUpstream
  let store: Store
  let gateway: Gateway

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'umg-first-'))
    upstream = await scriptedUpstream()
    store = await openStore('sqlite::memory:')
  })

  afterEach(async () => {
    await gateway?.drain({ delay: 0, grace: 0 })
    await upstream?.close()
    await rm(folder, { recursive: true })
  })

  /** The text of the first start with these namespaces. */
  async function welcome(namespaces: object, chain: readonly object[] = [AUTH]): Promise<string> {
    const routes = join(folder, 'routes.yaml')
    await writeFile(routes, stringify({ version: 1, chain, namespaces }).replaceAll('UPSTREAM', upstream.origin))
    const log = createLog({ level: 'silent' })
    const listen = { host: '127.0.0.1', port: 0 }
    gateway = await startGateway({ routes, env: {}, listen, store, log, version: 'test', workerThreads: 1 })
    return formatWelcome(await createFirstAccess(store, gateway), gateway.urls)
  }

  /** Runs the curl command of a text in a shell. Resolves to its output. */
  async function runCurl(text: string): Promise<{ readonly data?: readonly object[]; readonly model?: string }> {
    const curl = /^ +curl .*\\\n(?:.*\\\n)*.*$/m.exec(text)?.[0] ?? expect.fail(text)
    return JSON.parse((await promisify(execFile)('bash', ['-c', curl])).stdout)
  }

  for (const [what, model, namespaces] of [
    ['of a namespace of the sandbox', 'sandbox/hello', { up: paid(), sandbox: SANDBOX }],
    ['that the sandbox is restricted to', 'play/echo', { play: { ...SANDBOX, models: ['echo'] } }],
    ['that is curated', 'acme/smart', { up: paid(), acme: curated(['up/m'], ['up/n']) }],
    ['that a namespace lists', "up/o'm", { up: paid({ models: ["o'm"] }) }],
    ['of a namespace that allows all models', 'up/hello', { up: paid() }],
    ['that matches a glob', 'up/gpt-hello-mini', { up: paid({ models: ['gpt-*-mini'] }) }],
    ['of a namespace whose credential is not set', 'openai/hello', { openai: dormant() }],
    ['of a sandbox with testKeys: upstream', 'box/hello', { box: { ...SANDBOX, testKeys: 'upstream' } }],
  ] as const)
    it(`has a call that the sandbox serves, of a model ${what}`, async () => {
      const text = await welcome(namespaces)
      expect(text).to.include(FREE)
      expect((await runCurl(text)).model).to.equal(model)
      expect(upstream.requests).to.deep.equal([])
    })

  it('has a call of a model that the account of the key may call', async () => {
    await editAccount(store, { id: 'default', models: ['up/gpt-*'] }, GATEWAY)
    expect((await runCurl(await welcome({ sandbox: SANDBOX, up: paid() }))).model).to.equal('up/gpt-hello')
  })

  it('has a call of a model that auth applies to', async () => {
    const text = await welcome({ sandbox: SANDBOX, up: paid() }, [{ ...AUTH, when: { namespaces: ['up'] } }])
    expect((await runCurl(text)).model).to.equal('up/hello')
  })

  it('names the upstreams that serve test keys, and avoids models that may reach them', async () => {
    const up = paid({ testKeys: 'upstream' })
    const text = await welcome({ acme: curated(['play/m'], ['up/m']), up, play: dormant() })
    expect(text).to.include('answered by the sandbox, offline and free, but for up/*)')
    expect((await runCurl(text)).model).to.equal('play/hello')
    expect(upstream.requests).to.deep.equal([])
  })

  it('lists the models if only upstreams serve test keys, and warns of costs', async () => {
    upstream.on(() => json({ object: 'list', data: [{ id: 'm', object: 'model' }] }))
    const text = await welcome({ up: paid({ testKeys: 'upstream' }), openai: dormant({ testKeys: 'upstream' }) })
    expect(text).to.include('; its calls of up/* reach the upstream, and may cost money)').and.not.include('sandbox')
    expect((await runCurl(text)).data).to.have.lengthOf(1)
    expect(upstream.requests.map(({ method, path }) => `${method} ${path}`)).to.deep.equal(['GET /v1/models'])
  })

  for (const [what, namespaces, chain, todo] of [
    ['there is no auth', { sandbox: SANDBOX }, [], 'add "- plugin: auth" to the chain'],
    [
      'auth does not apply to the models of the sandbox',
      { up: paid({ testKeys: 'upstream' }), sandbox: SANDBOX },
      [{ ...AUTH, when: { namespaces: ['up'] } }],
      'add "- plugin: auth" to the chain of routes.yaml, without "when"',
    ],
    [
      'all credentials are missing',
      { openai: dormant({ testKeys: 'upstream' }), acme: curated(['openai/m']) },
      [AUTH],
      'give routes.yaml a namespace that answers',
    ],
    ['there is no namespace', {}, [AUTH], 'give routes.yaml a namespace that answers'],
  ] as const)
    it(`says what to do, without a command that would fail, if ${what}`, async () => {
      const text = await welcome(namespaces, chain)
      expect(text).to.match(/Test key {3}sk-test-\w+ {3}\(shown this once\)\n/)
      expect(text).to.include(`  Before you try it, ${todo}`).and.not.include('curl')
      expect(text).to.match(/\.\n\n$/)
    })
})
