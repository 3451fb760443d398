import { execFile } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { parse } from 'yaml'
import { startTestGateway } from '../../support/gateway.ts'
import { devDependencies, install, ROOT, TOOLS } from './author.ts'

const CREATE = join(ROOT, 'plugins/create-umg-plugin/create.mjs')

const run = promisify(execFile)

const PACKAGES = { provider: 'umg-provider-polly', chain: 'umg-plugin-polly' } as const
const KINDS = ['provider', 'chain'] as const

/** What the machine may need for it beside all the rest that it does. */
const SLOW_MS = 120_000

/** For a process in which the package `openai` is not installed. */
const WITHOUT_OPENAI = `
import { registerHooks } from 'node:module'
registerHooks({
  resolve(specifier, context, next) {
    if (specifier === 'openai') throw Object.assign(new Error('not installed'), { code: 'ERR_MODULE_NOT_FOUND' })
    return next(specifier, context)
  },
})
`

/** Begins a plugin in a folder. */
const create = (folder: string, ...args: readonly string[]) => run(process.execPath, [CREATE, ...args], { cwd: folder })

describe('a plugin begun by npm create umg-plugin', () => {
  let folder: string
  const home = (kind: (typeof KINDS)[number]) => join(folder, PACKAGES[kind])

  /** Runs one of the package's own scripts, as npm does. Throws what it printed where it fails. */
  async function npm(kind: (typeof KINDS)[number], script: string, env: NodeJS.ProcessEnv = {}): Promise<string> {
    const { scripts } = JSON.parse(await readFile(join(home(kind), 'package.json'), 'utf8'))
    const options = { cwd: home(kind), env: { ...TOOLS, ...env } }
    const { stdout } = await run('sh', ['-c', scripts[script]], options).catch((error) => {
      throw new Error(`${script}: ${error.stdout}${error.stderr}`)
    })
    return stdout
  }

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'umg-create-'))
    for (const kind of KINDS) await create(folder, kind, 'polly')
    await install(folder)
  })

  after(() => rm(folder, { recursive: true, force: true }))

  for (const kind of KINDS) {
    it(`has tests that pass (${kind})`, async () => {
      expect(await npm(kind, 'pretest')).to.equal('')
      expect(await npm(kind, 'test'))
        .to.match(/\d+ passing/)
        .and.not.to.match(/failing|pending/)
    }).timeout(SLOW_MS)

    it(`builds what npm wants (${kind})`, async () => {
      await npm(kind, 'prepare')
      const { exports } = JSON.parse(await readFile(join(home(kind), 'package.json'), 'utf8'))
      const { default: plugin } = await import(join(home(kind), exports['.'].default))
      expect(plugin).to.include({ kind, name: 'polly', apiVersion: 1 })
    }).timeout(SLOW_MS)

    it(`is loaded into a gateway by its routing table (${kind})`, async () => {
      const routes = parse(await readFile(join(home(kind), 'routes.yaml'), 'utf8'), (_, value) =>
        value === './src/index.ts' ? join(home(kind), value) : value,
      )
      const gateway = await startTestGateway({ routes, env: { POLLY_API_KEY: 'parrot-secret' } })
      const reply = await gateway.fetch('/v1/models')
      await gateway.stop()
      expect(reply.status).to.equal(200)
    })
  }

  it('has tests that pass without the SDK, and say what they leave out', async () => {
    await writeFile(join(folder, 'without-openai.mjs'), WITHOUT_OPENAI)
    const tested = await npm('provider', 'test', { NODE_OPTIONS: `--import ${join(folder, 'without-openai.mjs')}` })
    expect(tested)
      .to.match(/\d+ passing/)
      .and.to.match(/\d+ pending/)
      .and.to.contain('- a text (skipped: npm install --save-dev openai)')
      .and.not.to.contain('failing')
  }).timeout(SLOW_MS)

  it('compiles', async () => {
    // Both at once, since most of it is the gateway's own types.
    const { chain, provider } = PACKAGES
    const include = [chain, provider].flatMap((name) => [`${name}/src`, `${name}/test`])
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ extends: `./${provider}/tsconfig.json`, include }))
    const { stdout } = await run('tsc', ['-p', folder], { env: TOOLS }).catch((error) => error)
    expect(stdout).to.equal('')
  }).timeout(SLOW_MS)
})

describe('npm create umg-plugin', () => {
  let folder: string

  const refusal = (...args: readonly string[]): Promise<{ readonly code?: number; readonly stderr: string }> =>
    create(folder, ...args).catch(({ code, stderr }) => ({ code, stderr }))

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'umg-create-'))
  })

  afterEach(() => rm(folder, { recursive: true, force: true }))

  it('takes the gateway from the checkout that it lies in, and names the variable of its key', async () => {
    const { stdout } = await create(folder, 'provider', 'green-parrot')
    expect(stdout).to.contain(ROOT.replace(/\/$/, ''))
    const home = join(folder, 'umg-provider-green-parrot')
    const { devDependencies: asked } = JSON.parse(await readFile(join(home, 'package.json'), 'utf8'))
    expect(asked).to.have.property('unified-model-gateway', `file:${ROOT.replace(/\/$/, '')}`)
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of routes.yaml
    expect(await readFile(join(home, 'routes.yaml'), 'utf8')).to.contain('${env:GREEN_PARROT_API_KEY}')
  })

  it('leaves the gateway to npm where npm has installed it', async () => {
    const installed = join(folder, 'node_modules/create-umg-plugin')
    await cp(dirname(CREATE), installed, { recursive: true })
    await run(process.execPath, [join(installed, 'create.mjs'), 'chain', 'polly'], { cwd: folder })
    const { devDependencies: asked } = JSON.parse(await readFile(join(folder, 'umg-plugin-polly/package.json'), 'utf8'))
    expect(asked).to.deep.equal(await devDependencies())
  })

  it('gives every file the name, and leaves no place of it empty', async () => {
    await create(folder, 'chain', 'note-taker')
    const { stdout } = await run('grep', ['-rc', '__', folder]).catch((error) => error)
    expect(stdout.split('\n').filter((line: string) => !/:0$|^$/.test(line))).to.deep.equal([])
    const { name } = JSON.parse(await readFile(join(folder, 'umg-plugin-note-taker/package.json'), 'utf8'))
    expect(name).to.equal('umg-plugin-note-taker')
  })

  it('takes the whole name of the package for what it means', async () => {
    await create(folder, 'chain', 'umg-plugin-polly')
    expect(await readFile(join(folder, 'umg-plugin-polly/README.md'), 'utf8')).to.not.contain('umg-plugin-umg-plugin')
  })

  it('asks for the majors of packages that the gateway is tested with', async () => {
    const { devDependencies: ours } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'))
    const { 'unified-model-gateway': _, ...others } = await devDependencies()
    for (const [name, range] of Object.entries(others)) expect(majorOf(range), name).to.equal(majorOf(ours[name]))
  })

  for (const args of [[], ['provider'], ['plugin', 'polly'], ['chain', 'polly', 'more']]) {
    it(`says how it is used to one who says "${args.join(' ')}"`, async () => {
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

  it('leaves a folder alone that is there already', async () => {
    await create(folder, 'chain', 'polly')
    expect(await refusal('chain', 'polly'))
      .to.have.property('stderr')
      .that.contains('already exists')
  })
})

const majorOf = (range: string): string => /\d+/.exec(range)![0]
