import { cp, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { json, scriptedUpstream } from '../../core/testing/kit.ts'
import { find, itWith } from '../support/requirements.ts'
import { Machine, type PackedPackage, packPackage, ROOT, type StartedGateway } from './installation.ts'

/** The timeout of tests that run npm. */
const TIMEOUT_MS = 180_000

/** The command of an installed package, in its folder. */
const UMG = './node_modules/.bin/umg'

/** A plugin whose work is done in threads. */
const THREADED = `
import { defineChain, Type } from 'unified-model-gateway/plugin'
export const double = (number) => number * 2
export default defineChain({
  apiVersion: 1,
  name: 'threaded',
  schema: Type.Object({}),
  create: (_, host) => ({
    async handle(ctx, next) {
      ctx.set('x-doubled', await host.offload(new URL(import.meta.url), 'double', 21))
      ctx.set('x-tokens', await host.countTokens(await ctx.state.call()))
      await next()
    },
  }),
})
`

const routesWith = (plugin: string): string =>
  `version: 1\nchain: [{ plugin: auth }, ${plugin}]\nnamespaces: { sandbox: { provider: sandbox } }\n`

const routesTo = (baseUrl: string): string => `version: 1
chain: [{ plugin: auth }]
namespaces:
  anthropic: { provider: anthropic, testKeys: upstream, config: { baseUrl: "${baseUrl}", apiKey: "\${env:HOME}" } }
`

/** Sends the first call of the README, with the test key of the first start. */
async function firstCall(gateway: StartedGateway, { model = 'sandbox/hello', content = 'Hello!' } = {}): Promise<Response> {
  const [key] = await gateway.prints(/sk-test-\w{36}/)
  const body = JSON.stringify({ model, messages: [{ role: 'user', content }] })
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  return fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', headers, body })
}

describe('The npm package', function () {
  this.timeout(TIMEOUT_MS)
  let packed: PackedPackage

  before(async () => {
    packed = await packPackage()
  })

  after(() => packed?.remove())

  it('has what users need, and no sources or tests', async () => {
    expect(packed.files).to.include.members([
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'SECURITY.md',
      'THIRD-PARTY.txt',
      'console/dist/index.html',
      'core/main.js.map',
      'deploy/grafana/dashboards/overview.json',
      'deploy/prometheus/umg.rules.yaml',
      'deploy/routes.yaml',
      'deploy/systemd/umg.service',
      'docs/routes.md',
      'types/plugin.d.ts',
    ])
    const sources = packed.files.filter((path) => /(?<!\.d)\.[cm]?tsx?$|(?:^|\/)test\//.test(path))
    expect(sources.filter((path) => !path.startsWith('core/cli/project/template/'))).to.deep.equal([])
    expect(packed.files.filter((path) => path.startsWith('.'))).to.deep.equal([])
    expect((await stat(packed.tarball)).size).to.be.below(6 << 20)
  })

  it('has the licences of the packages that it contains', async () => {
    const notices = await readFile(join(packed.folder, 'built/THIRD-PARTY.txt'), 'utf8')
    for (const name of ['koa', 'undici', 'piscina', '@azure/identity', 'gpt-tokenizer', 'react']) {
      expect(notices).to.match(new RegExp(`^${name} \\d\\S* \\([\\w.-]+\\)\\n-+\\n\\n\\S`, 'm'))
    }
  })

  it('depends on nothing but the optional Node', async () => {
    const manifest = JSON.parse(await readFile(join(packed.folder, 'built/package.json'), 'utf8'))
    const { optionalDependencies, version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'))
    expect(manifest).to.deep.include({ name: 'unified-model-gateway', version, optionalDependencies })
    expect(manifest).to.not.have.any.keys('dependencies', 'devDependencies', 'scripts', 'private')
  })

  describe('installed on this Node', () => {
    let machine: Machine

    before(async () => {
      machine = await Machine.create(process.execPath)
      await machine.must('npm', ['install', packed.tarball])
    })

    after(() => machine?.remove())

    it('starts by npx in an empty folder, with a routing table that it writes', async () => {
      const gateway = await machine.start('npx', ['unified-model-gateway'])
      expect(gateway.stderr).to.match(/^note: there was no routes\.yaml here/)
      await gateway.prints(/npx unified-model-gateway keys create/)
      expect((await firstCall(gateway)).status).to.equal(200)
      const page = await fetch(`${gateway.url}/console`)
      expect(await page.text()).to.contain('/console/assets/')
      await gateway.interrupt()
      const routes = await readFile(join(machine.folder, 'routes.yaml'), 'utf8')
      expect(routes).to.match(
        /^# yaml-language-server: \$schema=\.\/node_modules\/unified-model-gateway\/docs\/routes\.schema\.json\n/,
      )
    })

    it('keeps a routing table that is there', async () => {
      const file = join(machine.folder, 'routes.yaml')
      await writeFile(file, `# mine\n${await readFile(file, 'utf8')}`)
      const gateway = await machine.start('npx', ['umg', 'start'])
      await gateway.interrupt()
      expect(gateway.stderr).to.not.contain('there was no routes.yaml')
      expect(await readFile(file, 'utf8')).to.match(/^# mine\n/)
    })

    it('writes no routing table where another one is asked for', async () => {
      const { code, stderr } = await machine.run(UMG, ['start', '--routes', 'mine.yaml'])
      expect(code).to.equal(1)
      expect(stderr).to.contain('mine.yaml')
      expect(await readdir(machine.folder)).to.not.include('mine.yaml')
    })

    it('serves the vendor whose API key is in the environment', async () => {
      const served = await machine.run(UMG, ['explain', 'openai/gpt-5.5'], { env: { OPENAI_API_KEY: 'sk-secret' } })
      expect(served.code).to.equal(0)
      expect((await machine.run(UMG, ['explain', 'openai/gpt-5.5'])).code).to.equal(1)
    })

    it('runs in several processes', async () => {
      const gateway = await machine.start(UMG, ['start', '--data', 'cluster', '--workers', '2'])
      expect((await firstCall(gateway)).status).to.equal(200)
      await gateway.interrupt()
    })

    it('works in threads, also for a local plugin', async () => {
      await writeFile(join(machine.folder, 'threaded.ts'), THREADED)
      await writeFile(join(machine.folder, 'threaded.yaml'), routesWith('{ plugin: ./threaded.ts }'))
      const gateway = await machine.start(UMG, ['start', '--data', 'threads', '--routes', 'threaded.yaml'])
      const reply = await firstCall(gateway)
      const [{ status, headers }, body] = [reply, await reply.text()]
      await gateway.interrupt()
      expect({ status, doubled: headers.get('x-doubled'), tokens: headers.get('x-tokens') }, body).to.deep.equal({
        status: 200,
        doubled: '42',
        tokens: '9',
      })
    })

    it('computes large requests in threads', async () => {
      const content = 'word '.repeat(2 << 20)
      const upstream = await scriptedUpstream()
      try {
        const usage = { input_tokens: 1, output_tokens: 1 }
        const reply = {
          id: 'msg_1',
          type: 'message',
          role: 'assistant',
          content: [{ type: 'text', text: 'Hi' }],
          stop_reason: 'end_turn',
          usage,
        }
        const received = upstream.reply(json(reply))
        await writeFile(join(machine.folder, 'large.yaml'), routesTo(upstream.origin))
        const gateway = await machine.start(UMG, ['start', '--data', 'large', '--routes', 'large.yaml'])
        const { status } = await firstCall(gateway, { model: 'anthropic/claude', content })
        await gateway.interrupt()
        expect(status).to.equal(200)
        const { messages } = (await received).json() as { messages: unknown }
        expect(JSON.stringify(messages)).to.contain(content)
      } finally {
        await upstream.close()
      }
    })

    it('contains all that any of its modules imports', async () => {
      const chunks = packed.files.filter((path) => /^(?:core\/chunks|plugins)\/.*\.js$/.test(path))
      const imports = chunks.map((path) => `await import('./node_modules/unified-model-gateway/${path}')`)
      await machine.must('node', ['--input-type=module', '--eval', imports.join('\n')])
    })

    it('makes a project whose tests pass, and overwrites nothing', async () => {
      await machine.must(UMG, ['init', 'project'])
      const project = join(machine.folder, 'project')
      expect(await readdir(project)).to.include.members(['.env.example', '.gitignore', 'package.json', 'routes.yaml'])
      // No registry is there to ask: the gateway comes from the tarball, as this one did, and types from nowhere.
      await machine.must('npm', ['pkg', 'delete', 'devDependencies'], { cwd: 'project' })
      await machine.must('npm', ['install'], { cwd: 'project' })
      expect(await machine.must('npm', ['test'], { cwd: 'project' }))
        .to.match(/routes\.yaml is valid: \d namespaces, 4 links/)
        .and.to.match(/pass 26\n/)
      await writeFile(join(project, '.env'), 'UMG_LOG_LEVEL=error\nOPENAI_API_KEY=sk-secret\n')
      const gateway = await machine.start('npm', ['start', '--'], { cwd: 'project' })
      expect(gateway.stderr).to.contain('ANTHROPIC_API_KEY').and.to.not.contain('OPENAI_API_KEY')
      await gateway.interrupt()
      const before = await readFile(join(project, 'plugins/log-usage.ts'), 'utf8')
      await writeFile(join(project, 'plugins/log-usage.ts'), `// mine\n${before}`)
      expect(await machine.must(UMG, ['init', 'project'])).to.contain('kept plugins/log-usage.ts, which was there\n')
      expect(await readFile(join(project, 'plugins/log-usage.ts'), 'utf8')).to.match(/^\/\/ mine\n/)
    })

    it('makes a project that takes the gateway from a registry only if npm had it from there', async () => {
      const gatewayOf = async (project: string): Promise<string> => {
        await machine.must(UMG, ['init', project])
        const manifest = JSON.parse(await readFile(join(machine.folder, project, 'package.json'), 'utf8'))
        return manifest.dependencies['unified-model-gateway']
      }
      expect(await gatewayOf('from-file')).to.match(/^file:\.\..*\.tgz$/)
      const lockfile = join(machine.folder, 'node_modules/.package-lock.json')
      const text = await readFile(lockfile, 'utf8')
      const lock = JSON.parse(text)
      const installed = lock.packages['node_modules/unified-model-gateway']
      installed.resolved = `https://registry.npmjs.org/unified-model-gateway/-/unified-model-gateway-${installed.version}.tgz`
      await writeFile(lockfile, JSON.stringify(lock))
      expect(await gatewayOf('from-registry')).to.equal(`^${installed.version}`)
      await writeFile(lockfile, text)
    })

    it('compiles, packs and serves a plugin of the scaffold', async () => {
      const scaffold = join(machine.folder, '../create-umg-plugin')
      await cp(join(ROOT, 'plugins/create-umg-plugin'), scaffold, { recursive: true })
      await machine.must('node', [join(scaffold, 'create.mjs'), 'chain', 'polly'])
      for (const name of ['@types', 'undici-types']) {
        // Copies, not links: npm removes what is not in package.json.
        await cp(join(ROOT, 'node_modules', name), join(machine.folder, 'node_modules', name), { recursive: true })
      }
      const tsc = join(ROOT, 'node_modules/typescript/bin/tsc')
      await machine.must('node', [tsc, '--project', 'tsconfig.build.json', '--skipLibCheck', 'false'], {
        cwd: 'umg-plugin-polly',
      })
      await machine.must('npm', ['pack', '--ignore-scripts', '--pack-destination', '..'], { cwd: 'umg-plugin-polly' })
      await machine.must('npm', ['install', './umg-plugin-polly-0.1.0.tgz'])
      await writeFile(join(machine.folder, 'polly.yaml'), routesWith('{ plugin: polly, config: { team: red } }'))
      const gateway = await machine.start(UMG, ['start', '--data', 'polly', '--routes', 'polly.yaml'])
      const reply = await firstCall(gateway)
      await gateway.interrupt()
      expect(reply.headers.get('x-team')).to.equal('red')
    })

    it('leaves the table and the data when it is uninstalled', async () => {
      await machine.must('npm', ['uninstall', 'unified-model-gateway'])
      expect(await readdir(join(machine.folder, 'node_modules'))).to.not.include('unified-model-gateway')
      expect(await readdir(machine.folder)).to.include.members(['routes.yaml', 'data'])
    })
  })

  describe('installed on a Node that is too old', () => {
    let machine: Machine
    const runtime = join(ROOT, 'node_modules', `node-${process.platform}-${process.arch}`)

    before(async function () {
      const node = find('oldNode')
      if (node === undefined) return this.skip()
      machine = await Machine.create(node)
      await machine.must('npm', ['install', packed.tarball])
    })

    after(() => machine?.remove())

    itWith('oldNode', 'says what to do without its own Node', async () => {
      const { code, stdout, stderr } = await machine.run(UMG, ['start'])
      expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' })
      expect(stderr).to.match(/^Node 24\.12 or newer is needed, but this is v\d+\.\d+\.\d+: .*\.\n$/)
    })

    itWith('oldNode', 'starts by npx on its own Node', async () => {
      await machine.must('npm', ['install', runtime])
      const gateway = await machine.start('npx', ['umg', 'start'])
      expect((await firstCall(gateway)).status).to.equal(200)
      await gateway.interrupt()
    })

    itWith('oldNode', 'passes arguments, streams, exit codes and signals to its own Node', async () => {
      // Without npx, which finds that Node first: as a service manager runs the command.
      expect(await machine.must(UMG, ['--version'])).to.match(/^\d+\.\d+\.\d+\n$/)
      expect((await machine.run(UMG, ['strat'])).code).to.equal(2)
      const gateway = await machine.start(UMG, ['start'])
      process.kill(gateway.pid, 'SIGTERM')
      expect((await gateway.ended).code).to.equal(0)
    })

    itWith('oldNode', 'makes a project whose tests pass', async () => {
      await machine.must(UMG, ['init', 'project'])
      await symlink('../node_modules', join(machine.folder, 'project/node_modules'))
      expect(await machine.must('npm', ['test'], { cwd: 'project' })).to.match(/pass 26\n/)
    })
  })
})
