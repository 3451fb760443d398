import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { parse } from 'yaml'
import { startTestGateway } from '../../support/gateway.ts'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const CREATE = join(ROOT, 'plugins/create-umg-plugin/create.mjs')

const run = promisify(execFile)

const PACKAGES = { provider: 'umg-provider-polly', chain: 'umg-plugin-polly' } as const

describe('npm create umg-plugin', () => {
  let folder: string

  /** Begins a plugin in the test's folder. */
  const create = (...args: readonly string[]) => run(process.execPath, [CREATE, ...args], { cwd: folder })

  const refusal = (...args: readonly string[]): Promise<{ readonly code?: number; readonly stderr: string }> =>
    create(...args).catch(({ code, stderr }) => ({ code, stderr }))

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'umg-create-'))
  })

  afterEach(() => rm(folder, { recursive: true, force: true }))

  for (const kind of ['provider', 'chain'] as const) {
    describe(`begins a ${kind === 'chain' ? 'chain plugin' : kind}`, () => {
      let home: string

      beforeEach(async () => {
        await create(kind, 'polly')
        home = join(folder, PACKAGES[kind])
        await install(home)
      })

      it('whose tests pass, which compiles, and which builds what npm wants', async () => {
        const { scripts, exports } = JSON.parse(await readFile(join(home, 'package.json'), 'utf8'))
        const npm = (script: string) => run('sh', ['-c', scripts[script]], { cwd: home, env: withTools(home) })
        const { stdout } = await npm('test')
        expect(stdout)
          .to.match(/\d+ passing/)
          .and.not.to.match(/failing|pending/)
        await npm('check')
        await npm('prepare')
        const { default: plugin } = await import(join(home, exports['.'].default))
        expect(plugin).to.include({ kind, name: 'polly', apiVersion: 1 })
      }).timeout(60_000)

      it('which its routing table loads into a gateway', async () => {
        const routes = parse(await readFile(join(home, 'routes.yaml'), 'utf8'), (_, value) =>
          value === './src/index.ts' ? join(home, value) : value,
        )
        const gateway = await startTestGateway({ routes, env: { PARROT_API_KEY: 'parrot-secret' } })
        const reply = await gateway.fetch('/v1/models')
        await gateway.stop()
        expect(reply.status).to.equal(200)
        if (kind === 'chain') expect(reply.headers.get('x-team')).to.equal(null)
      })
    })
  }

  it('gives every file the name, and leaves no place of it empty', async () => {
    await create('chain', 'note-taker')
    const { stdout } = await run('grep', ['-rc', '__', folder]).catch((error) => error)
    expect(stdout.split('\n').filter((line: string) => !/:0$|^$/.test(line))).to.deep.equal([])
    const { name } = JSON.parse(await readFile(join(folder, 'umg-plugin-note-taker/package.json'), 'utf8'))
    expect(name).to.equal('umg-plugin-note-taker')
  })

  it('asks for the majors of packages that the gateway is tested with', async () => {
    const template = join(ROOT, 'plugins/create-umg-plugin/templates/both/package.json')
    const [theirs, ours] = await Promise.all(
      [template, join(ROOT, 'package.json')].map(async (file) => JSON.parse(await readFile(file, 'utf8')).devDependencies),
    )
    const { 'unified-model-gateway': _, ...others } = theirs
    for (const [name, range] of Object.entries<string>(others)) expect(majorOf(range), name).to.equal(majorOf(ours[name]))
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
    await create('chain', 'polly')
    expect(await refusal('chain', 'polly'))
      .to.have.property('stderr')
      .that.contains('is there already')
  })
})

/** Does without a network what npm install does. */
async function install(home: string): Promise<void> {
  const { devDependencies } = JSON.parse(await readFile(join(home, 'package.json'), 'utf8'))
  for (const name of Object.keys(devDependencies)) {
    const place = join(home, 'node_modules', name)
    await mkdir(dirname(place), { recursive: true })
    await symlink(name === 'unified-model-gateway' ? ROOT : join(ROOT, 'node_modules', name), place)
  }
}

/** As npm runs scripts: with what is installed on the path. */
const withTools = (home: string) => ({
  PATH: `${join(ROOT, 'node_modules/.bin')}:${dirname(process.execPath)}:${process.env.PATH}`,
  HOME: home,
})

const majorOf = (range: string): string => /\d+/.exec(range)![0]
