import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect } from 'chai'
import { parse } from 'yaml'
import { startTestGateway } from '../../support/gateway.ts'
import { CREATE, createPlugin, devDependencies, install, ROOT, run } from './author.ts'

const PACKAGES = { provider: 'umg-provider-polly', chain: 'umg-plugin-polly' } as const
const KINDS = ['provider', 'chain'] as const

/** The timeout of tests that run npm scripts. */
const TIMEOUT_MS = 120_000

/** Makes a process behave as if the package `openai` were not installed. */
const WITHOUT_OPENAI = `
import { registerHooks } from 'node:module'
registerHooks({
  resolve(specifier, context, next) {
    if (specifier === 'openai') throw Object.assign(new Error('not installed'), { code: 'ERR_MODULE_NOT_FOUND' })
    return next(specifier, context)
  },
})
`

/** A test that fails before it closes its link. */
const LEFT_OPEN = `
import { startLink } from 'unified-model-gateway/plugin/testing'
import plugin from '../src/index.ts'
it('fails', async () => {
  await startLink(plugin, { team: 'red', mostTokens: 100 })
  throw new Error('Oh')
})
`

/** Creates a plugin in a folder. */
const create = (folder: string, ...args: readonly string[]) => run(process.execPath, [CREATE, ...args], { cwd: folder })

describe('A plugin created by npm create umg-plugin', () => {
  let folder: string
  const home = (kind: (typeof KINDS)[number]) => join(folder, PACKAGES[kind])

  /** Runs one of the package's scripts, as npm does. Throws its output if it fails. */
  async function npm(kind: (typeof KINDS)[number], script: string, env: NodeJS.ProcessEnv = {}): Promise<string> {
    const { scripts } = JSON.parse(await readFile(join(home(kind), 'package.json'), 'utf8'))
    return run('sh', ['-c', scripts[script]], { cwd: home(kind), env }).catch((error) => {
      throw new Error(`${script}: ${error.stdout}${error.stderr}`)
    })
  }

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'umg-create-'))
    for (const kind of KINDS) await createPlugin(folder, kind)
    await install(folder)
  })

  after(() => rm(folder, { recursive: true, force: true }))

  it('ends its tests if one fails that has a link open', async () => {
    const test = join(home('chain'), 'test/open.test.ts')
    await writeFile(test, LEFT_OPEN)
    const output = await npm('chain', 'test').then(() => '', String)
    await rm(test)
    expect(output).to.contain('1 failing')
  }).timeout(TIMEOUT_MS)

  for (const kind of KINDS) {
    it(`has passing tests (${kind})`, async () => {
      expect(await npm(kind, 'pretest')).to.equal('')
      expect(await npm(kind, 'test'))
        .to.match(/\d+ passing/)
        .and.not.to.match(/failing|pending/)
    }).timeout(TIMEOUT_MS)

    it(`builds the module that its package exports (${kind})`, async () => {
      await npm(kind, 'prepare')
      const { exports } = JSON.parse(await readFile(join(home(kind), 'package.json'), 'utf8'))
      const { default: plugin } = await import(join(home(kind), exports['.'].default))
      expect(plugin).to.include({ kind, name: 'polly', apiVersion: 1 })
    }).timeout(TIMEOUT_MS)

    it(`is loaded by a gateway with its routes.yaml (${kind})`, async () => {
      const routes = parse(await readFile(join(home(kind), 'routes.yaml'), 'utf8'), (_, value) =>
        value === './src/index.ts' ? join(home(kind), value) : value,
      )
      const gateway = await startTestGateway({ routes, env: { POLLY_API_KEY: 'parrot-secret' } })
      const reply = await gateway.fetch('/v1/models')
      await gateway.stop()
      expect(reply.status).to.equal(200)
    })
  }

  it('has passing tests without the SDK, which list what they skip', async () => {
    await writeFile(join(folder, 'without-openai.mjs'), WITHOUT_OPENAI)
    const tested = await npm('provider', 'test', { NODE_OPTIONS: `--import ${join(folder, 'without-openai.mjs')}` })
    expect(tested)
      .to.match(/\d+ passing/)
      .and.to.match(/\d+ pending/)
      .and.to.contain('- a text (skipped: npm install --save-dev openai)')
      .and.not.to.contain('failing')
  }).timeout(TIMEOUT_MS)
})

describe('npm create umg-plugin', () => {
  let folder: string

  const refusal = (...args: readonly string[]): Promise<{ readonly code: number; readonly stderr: string }> =>
    create(folder, ...args).then(
      () => expect.fail('the plugin was created'),
      ({ code, stderr }) => ({ code, stderr }),
    )

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'umg-create-'))
  })

  afterEach(() => rm(folder, { recursive: true, force: true }))

  it('depends on the checkout that it runs from, and names the environment variable of its key', async () => {
    const stdout = await create(folder, 'provider', 'green-parrot')
    expect(stdout).to.contain(ROOT.replace(/\/$/, ''))
    const home = join(folder, 'umg-provider-green-parrot')
    const { devDependencies: asked } = JSON.parse(await readFile(join(home, 'package.json'), 'utf8'))
    expect(asked).to.have.property('unified-model-gateway', `file:${ROOT.replace(/\/$/, '')}`)
    const [runtime] = Object.entries(asked).find(([name]) => /^node-/.test(name)) ?? []
    expect(asked).to.have.property(runtime!, `file:${join(ROOT, 'node_modules', runtime!)}`)
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of routes.yaml
    expect(await readFile(join(home, 'routes.yaml'), 'utf8')).to.contain('${env:GREEN_PARROT_API_KEY}')
  })

  it('depends on the published gateway when npm has installed it', async () => {
    const installed = join(folder, 'node_modules/create-umg-plugin')
    await cp(dirname(CREATE), installed, { recursive: true })
    await run(process.execPath, [join(installed, 'create.mjs'), 'chain', 'polly'], { cwd: folder })
    const { devDependencies: asked } = JSON.parse(await readFile(join(folder, 'umg-plugin-polly/package.json'), 'utf8'))
    expect(asked).to.deep.equal(await devDependencies())
  })

  it('asks npm for no gateway where the finished package is installed: one of any version may be there already', async () => {
    for (const kind of KINDS) {
      await create(folder, kind, `peer-${kind}`)
      const home = join(folder, PACKAGES[kind].replace('polly', `peer-${kind}`))
      const { dependencies, peerDependencies, peerDependenciesMeta } = JSON.parse(
        await readFile(join(home, 'package.json'), 'utf8'),
      )
      expect(dependencies, kind).to.equal(undefined)
      expect(peerDependencies, kind).to.deep.equal({ 'unified-model-gateway': '*' })
      expect(peerDependenciesMeta, kind).to.deep.equal({ 'unified-model-gateway': { optional: true } })
    }
  })

  it('replaces every placeholder by the name', async () => {
    await create(folder, 'chain', 'note-taker')
    const withPlaceholder = await run('grep', ['-rl', '__', folder]).catch(({ stdout }) => stdout)
    expect(withPlaceholder).to.equal('')
    const { name } = JSON.parse(await readFile(join(folder, 'umg-plugin-note-taker/package.json'), 'utf8'))
    expect(name).to.equal('umg-plugin-note-taker')
  })

  it('accepts the full package name', async () => {
    await create(folder, 'chain', 'umg-plugin-polly')
    expect(await readFile(join(folder, 'umg-plugin-polly/README.md'), 'utf8')).to.not.contain('umg-plugin-umg-plugin')
  })

  it('depends on the same major versions as the gateway', async () => {
    const { devDependencies: ours } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'))
    const { 'unified-model-gateway': _, ...others } = await devDependencies()
    for (const [name, range] of Object.entries(others)) expect(majorOf(range), name).to.equal(majorOf(ours[name]))
  })

  for (const args of [[], ['provider'], ['plugin', 'polly'], ['chain', 'polly', 'more']]) {
    it(`prints its usage for the arguments "${args.join(' ')}"`, async () => {
      const { code, stderr } = await refusal(...args)
      expect(code).to.equal(1)
      expect(stderr).to.contain('npm create umg-plugin provider NAME')
    })
  }

  for (const name of ['Polly', '../polly', '@me/polly', '-x']) {
    it(`refuses the name ${name}`, async () => {
      expect(await refusal('chain', name))
        .to.deep.include({ code: 1 })
        .and.have.property('stderr')
        .that.contains('lower-case')
    })
  }

  it('does not overwrite an existing folder', async () => {
    await create(folder, 'chain', 'polly')
    expect(await refusal('chain', 'polly'))
      .to.have.property('stderr')
      .that.contains('already exists')
  })
})

const majorOf = (range: string): string => /\d+/.exec(range)![0]
