import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { stringify } from 'yaml'
import { editAccount } from '../../../core/accounts/accounts.ts'
import { GATEWAY } from '../../../core/accounts/audit.ts'
import { prepareBeginning, welcome } from '../../../core/cli/first-start.ts'
import { type Gateway, startGateway } from '../../../core/gateway/gateway.ts'
import { createLog } from '../../../core/observe/log.ts'
import { openStore, type Store } from '../../../core/store/database.ts'
import { json, type ScriptedUpstream, scriptedUpstream } from '../../../core/testing/kit.ts'

const AUTH = { plugin: 'auth' }
const SANDBOX = { provider: 'sandbox' }
/** Its upstream is set by each test. */
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

describe('what the first start shows', () => {
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

  /** All of it, with a table of these namespaces. */
  async function shown(namespaces: object, chain: readonly object[] = [AUTH]): Promise<string> {
    const routes = join(folder, 'routes.yaml')
    await writeFile(routes, stringify({ version: 1, chain, namespaces }).replaceAll('UPSTREAM', upstream.origin))
    const log = createLog({ level: 'silent' })
    const listen = { host: '127.0.0.1', port: 0 }
    gateway = await startGateway({ routes, env: {}, listen, store, log, version: 'test', workerThreads: 1 })
    return welcome(await prepareBeginning(store, gateway), gateway.urls)
  }

  /** What the curl line gives that stands in a text, pasted into a shell. */
  async function pasted(text: string): Promise<{ readonly data?: readonly object[]; readonly model?: string }> {
    const curl = /^ +curl .*\\\n(?:.*\\\n)*.*$/m.exec(text)?.[0] ?? expect.fail(text)
    return JSON.parse((await promisify(execFile)('bash', ['-c', curl])).stdout)
  }

  for (const [what, model, namespaces] of [
    ['the plainest one, where there is a sandbox', 'sandbox/hello', { up: paid(), sandbox: SANDBOX }],
    ['one that the sandbox is narrowed to', 'play/echo', { play: { ...SANDBOX, models: ['echo'] } }],
    ['a curated one', 'acme/smart', { up: paid(), acme: curated(['up/m'], ['up/n']) }],
    ['one that a namespace names', "up/o'm", { up: paid({ models: ["o'm"] }) }],
    ['any at all, where any passes through', 'up/hello', { up: paid() }],
    ['one that a glob lets pass', 'up/gpt-hello-mini', { up: paid({ models: ['gpt-*-mini'] }) }],
    ['one of a namespace whose credential is not set', 'openai/hello', { openai: dormant() }],
    ['one of a sandbox that says testKeys: upstream', 'box/hello', { box: { ...SANDBOX, testKeys: 'upstream' } }],
  ] as const)
    it(`is a call of a model that the sandbox answers: ${what}`, async () => {
      const text = await shown(namespaces)
      expect(text).to.include(FREE)
      expect((await pasted(text)).model).to.equal(model)
      expect(upstream.requests).to.deep.equal([])
    })

  it('is a call of a model that the account of the key may call', async () => {
    await editAccount(store, { id: 'default', models: ['up/gpt-*'] }, GATEWAY)
    expect((await pasted(await shown({ sandbox: SANDBOX, up: paid() }))).model).to.equal('up/gpt-hello')
  })

  it('is a call of a model that calls are identified for', async () => {
    const text = await shown({ sandbox: SANDBOX, up: paid() }, [{ ...AUTH, when: { namespaces: ['up'] } }])
    expect((await pasted(text)).model).to.equal('up/hello')
  })

  it('says what the sandbox does not answer, and calls nothing that may come to that', async () => {
    const up = paid({ testKeys: 'upstream' })
    const text = await shown({ acme: curated(['play/m'], ['up/m']), up, play: dormant() })
    expect(text).to.include('answered by the sandbox, offline and free, but for up/*)')
    expect((await pasted(text)).model).to.equal('play/hello')
    expect(upstream.requests).to.deep.equal([])
  })

  it('lists the models where only upstreams answer, and says that they may cost money', async () => {
    upstream.on(() => json({ object: 'list', data: [{ id: 'm', object: 'model' }] }))
    const text = await shown({ up: paid({ testKeys: 'upstream' }), openai: dormant({ testKeys: 'upstream' }) })
    expect(text).to.include('; its calls of up/* reach the upstream, and may cost money)').and.not.include('sandbox')
    expect((await pasted(text)).data).to.have.lengthOf(1)
    expect(upstream.requests.map(({ method, path }) => `${method} ${path}`)).to.deep.equal(['GET /v1/models'])
  })

  for (const [what, namespaces, chain, todo] of [
    ['nothing identifies calls', { sandbox: SANDBOX }, [], 'add "- plugin: auth" to the chain'],
    [
      'nothing identifies the calls that are answered',
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
    it(`says what to do, and gives no line that fails, where ${what}`, async () => {
      const text = await shown(namespaces, chain)
      expect(text).to.match(/Test key {3}sk-test-\w+ {3}\(shown this once\)\n/)
      expect(text).to.include(`  Before you try it, ${todo}`).and.not.include('curl')
      expect(text).to.match(/\.\n\n$/)
    })
})
