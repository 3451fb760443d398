import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { Home } from './umg.ts'

const routes = (...links: string[]) =>
  `version: 1\nchain: [${['{ plugin: auth }', ...links].join(', ')}]\nnamespaces: { sandbox: { provider: sandbox } }\n`

/** A plugin with a timer, which keeps the process alive. It throws an uncaught error outside of the call that requests it. */
const RESTLESS = `
import { AsyncResource } from 'node:async_hooks'
import { defineChain, Type } from 'unified-model-gateway/plugin'
export default defineChain({
  apiVersion: 1,
  name: 'restless',
  schema: Type.Object({ refuse: Type.Optional(Type.String()) }),
  create({ refuse }) {
    setInterval(() => {}, 1000)
    if (refuse !== undefined) throw new Error(refuse)
    const lose = AsyncResource.bind(() => void Promise.reject(new Error('lost-detail')))
    return {
      handle(ctx, next) {
        if (ctx.get('x-lose') !== '') lose()
        return next()
      },
    }
  },
})
`

describe('umg start', () => {
  let home: Home

  beforeEach(async () => {
    home = await Home.create({ 'routes.yaml': routes('{ plugin: ./restless.ts }'), 'restless.ts': RESTLESS })
  })

  afterEach(() => home?.remove())

  it('prints a key and how to try it on the first successful start only', async () => {
    expect(await home.run(['start', '--routes', 'missing.yaml']).ended).to.deep.include({ code: 1, stdout: '' })

    const first = await home.start()
    const [, secret] = await first.umg.prints(/Test key +(sk-test-\w+)[\s\S]*\n\n$/)
    expect(first.umg.stdout).to.contain(`Base URL   ${first.url}/v1\n`)
    const curl = /^ +curl .*\\\n(?:.*\\\n)*.*$/m.exec(first.umg.stdout)?.[0] ?? ''
    expect(curl).to.contain(secret)
    const { stdout } = await promisify(execFile)('bash', ['-c', curl])
    expect(JSON.parse(stdout)).to.have.nested.property('choices[0].message.content')

    // The line of the call is in the log, and the timer of the plugin does not keep the process alive.
    first.umg.signal('SIGINT')
    const ended = await first.umg.ended
    expect(ended.code).to.equal(0)
    expect(ended.stdout).to.contain('"model":"hello"')
    expect(ended.stderr).to.not.contain('warning')

    const second = await home.start()
    await second.umg.prints(/Keys {7}npx umg keys create --name "my app"\n/)
    second.umg.signal('SIGINT')
    const { stdout: again } = await second.umg.ended
    expect(again).to.not.contain('sk-test-')
    expect(again).to.contain('draining: open calls may end, a second signal ends them now')
  })

  it('in one process exits on an uncaught exception without printing its message', async () => {
    const { umg, url } = await home.start('--workers', '1')
    const [secret] = await umg.prints(/sk-test-\w+/)
    const reply = await fetch(`${url}/v1/models`, { headers: { 'x-lose': 'yes', authorization: `Bearer ${secret}` } })
    expect(reply.status).to.equal(200)
    const { code, stdout, stderr } = await umg.ended
    expect(code).to.equal(1)
    expect(stdout).to.contain('uncaught exception, shutting down')
    expect(stdout + stderr).to.not.contain('lost-detail')
  })

  it('warns of metrics that other machines can read', async () => {
    const { umg } = await home.start('--host', '0.0.0.0')
    umg.signal('SIGINT')
    expect((await umg.ended).stderr).to.match(/^warning: other machines can read \/metrics .*UMG_METRICS_TOKEN/m)
  })

  describe('does not start', () => {
    async function refused(flags: readonly string[], env: Readonly<Record<string, string>> = {}, exitCode = 1): Promise<string> {
      const { code, stdout, stderr } = await home.run(['start', ...flags], { env }).ended
      expect(code).to.equal(exitCode)
      expect(stdout).to.equal('')
      expect(stderr).to.not.contain('    at ')
      return stderr
    }

    for (const [what, flags] of [
      ['--port', (port: number) => ['--port', String(port)]],
      ['--admin-listen', (port: number) => ['--port', '0', '--admin-listen', `127.0.0.1:${port}`]],
    ] as const) {
      it(`if the address of ${what} is in use`, async () => {
        const other = createServer().listen(0, '127.0.0.1')
        await once(other, 'listening')
        const { port } = other.address() as AddressInfo
        const stderr = await refused(flags(port))
        other.close()
        expect(stderr).to.match(
          new RegExp(`^127\\.0\\.0\\.1:${port} is in use: end the process that listens there, or choose another`),
        )
      })
    }

    it('with a routing table that is not valid, and prints each error with its position', async () => {
      await home.write('routes.yaml', `${routes()}namespases: {}\nkeys: 1\n`)
      const stderr = await refused(['--port', '0'])
      expect(stderr).to.match(/^routes\.yaml:4:1: unknown field "namespases".*did you mean "namespaces"/)
      expect(stderr).to.match(/^routes\.yaml:5:7: /m)
      expect(stderr).to.match(/routes\.yaml is not valid: 2 errors\n$/)
    })

    it('with a config that a plugin refuses, and ends despite the timer of another plugin', async () => {
      await home.write('routes.yaml', routes('{ plugin: ./restless.ts }', '{ plugin: ./restless.ts, config: { refuse: "No!" } }'))
      expect(await refused(['--port', '0'])).to.match(/^routes\.yaml:2:\d+: chain plugin restless: No!$/m)
    })

    for (const [flags, env, message] of [
      [['--prot', '1'], {}, 'Did you mean --port?'],
      [['--port', 'abc'], {}, 'A port is a number from 0 to 65535.'],
      [[], { UMG_PORT: 'abc' }, "value 'abc' from env 'UMG_PORT' is invalid"],
    ] as const) {
      it(`with ${[...flags, ...Object.entries(env).flat()].join(' ')}, and prints one sentence`, async () => {
        expect(await refused(flags, env, 2)).to.contain(message)
      })
    }

    it('with an unknown kind of database, and names the known kinds', async () => {
      expect(await refused(['--database', 'mysql://x'])).to.match(/sqlite:.*postgres:/s)
    })
  })
})
