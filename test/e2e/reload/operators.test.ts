import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { Command, CommanderError } from 'commander'
import { addGatewayCommands, defaultUrl } from '../../../core/cli/gateway/commands.ts'
import { closedOrigin } from '../../support/closed-port.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { Home } from '../lifecycle/umg.ts'
import { replaceFile, table, tableInUse } from './reloading.ts'

const CHANGED = '~ link header-stamping: config.response.x-table: first → second'

describe('POST /-/reload', () => {
  let gateway: TestGateway
  let adminKey: string

  beforeEach(async () => {
    gateway = await startTestGateway({ routes: table('first'), adminListen: true })
    adminKey = await gateway.key({ kind: 'admin' })
  })

  afterEach(() => gateway?.stop())

  const write = (text: string) => writeFile(join(gateway.folder, 'routes.yaml'), text)

  const post = (key?: string, { url = gateway.adminUrl, ...headers }: Record<string, string> = {}) =>
    fetch(`${url}/-/reload`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(key !== undefined && { authorization: `Bearer ${key}` }), ...headers },
      body: '{}',
    })

  it('returns the differences', async () => {
    await write(table('second'))
    const reply = await post(adminKey)
    expect(reply.status).to.equal(200)
    const { sha256, difference } = (await reply.json()) as { sha256: string; difference: string[] }
    // If the file watch was faster, the difference is in its line.
    const lines = gateway.log.filter(({ msg }) => msg === 'routing table reloaded') as { difference: string[]; trigger: string }[]
    expect(lines.flatMap((line) => line.difference)).to.deep.equal([CHANGED])
    expect(lines.find(({ trigger }) => trigger === 'request')?.difference).to.deep.equal(difference)
    expect(await gateway.metrics()).to.contain(`umg_config_info{sha256="${sha256}"} 1`)
    expect(await tableInUse(gateway)).to.equal('second')
  })

  it('returns the errors with their positions', async () => {
    await write(table('second', 'namespases: {}\nkeys: 1\n'))
    const reply = await post(adminKey)
    expect(reply.status).to.equal(422)
    const { error, diagnostics } = (await reply.json()) as { error: { code: string }; diagnostics: { line: number }[] }
    expect(error.code).to.equal('invalid_routes')
    expect(diagnostics.map(({ line }) => line)).to.deep.equal([8, 9])
    expect(diagnostics[0]).to.include({ column: 1, file: join(gateway.folder, 'routes.yaml') })
    expect(await tableInUse(gateway)).to.equal('first')
  })

  it('needs an admin key', async () => {
    await write(table('second'))
    for (const [status, reply] of [
      [401, post()],
      [401, post('sk-admin-wrong')],
      [401, post(gateway.liveKey)],
      [401, post(gateway.testKey)],
      [403, post(undefined, { cookie: 'umg_session=x', 'sec-fetch-site': 'cross-site' })],
      [404, post(adminKey, { url: gateway.url })],
    ] as const) {
      expect((await reply).status).to.equal(status)
    }
    expect((await fetch(`${gateway.adminUrl}/-/reload`)).status).to.equal(405)
  })

  it('is recorded in the audit trail', async () => {
    await write(table('second'))
    await post(adminKey)
    const trail = await fetch(`${gateway.adminUrl}/api/v1/audit`, { headers: { authorization: `Bearer ${adminKey}` } })
    const { data } = (await trail.json()) as { data: { action: string; object: object }[] }
    expect(data[0]).to.deep.include({ action: 'config.reload', object: { type: 'config', id: null, name: 'routes.yaml' } })
  })

  it('shares one reload among simultaneous requests, and misses no change', async () => {
    await write(table('second'))
    const replies = await Promise.all(Array.from({ length: 20 }, () => post(adminKey)))
    expect(replies.map(({ status }) => status)).to.deep.equal(Array(20).fill(200))
    expect(await tableInUse(gateway)).to.equal('second')
    expect(await gateway.metric('umg_config_reloads_total', { result: 'success' })).to.be.below(20)
  })
})

describe('at the command line, an operator', () => {
  let gateway: TestGateway
  let env: NodeJS.ProcessEnv

  beforeEach(async () => {
    gateway = await startTestGateway({ routes: table('first'), adminListen: true })
    env = { UMG_ADMIN_KEY: await gateway.key({ kind: 'admin' }), UMG_ADMIN_LISTEN: new URL(gateway.adminUrl).host }
  })

  afterEach(() => gateway?.stop())

  const at = (name: string): string => join(gateway.folder, name)

  /** Runs a command in this process. Resolves to its output and exit code. */
  async function umg(args: readonly string[], environment = env) {
    const output = { stdout: '', stderr: '' }
    const stdout = { write: (text: string) => (output.stdout += text) }
    const stderr = { write: (text: string) => (output.stderr += text) }
    const program = new Command('umg').exitOverride().configureOutput({ writeErr: stderr.write })
    const end = (code: number): never => {
      throw new CommanderError(code, 'ended', '')
    }
    addGatewayCommands(program, { env: environment, stdout, stderr }, end)
    const ended = program.parseAsync(args, { from: 'user' })
    const { exitCode } = await ended.then(
      () => expect.fail('it did not end'),
      (error: CommanderError) => error,
    )
    return { ...output, code: exitCode }
  }

  it('checks whether the gateway is ready', async () => {
    expect(await umg(['healthcheck'])).to.deep.equal({ code: 0, stdout: `${gateway.adminUrl} is ready\n`, stderr: '' })
    const nowhere = await closedOrigin()
    const { code, stdout, stderr } = await umg(['healthcheck', '--url', nowhere])
    expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' })
    expect(stderr).to.contain(`${nowhere} does not answer (ECONNREFUSED): is the gateway running?`)
  })

  it('sees the differences that a table would make', async () => {
    await writeFile(at('second.yaml'), table('second'))
    await writeFile(at('wrong.yaml'), 'version: 2\n')
    expect(await umg(['diff', at('routes.yaml')])).to.deep.equal({ code: 0, stdout: 'nothing has changed\n', stderr: '' })
    expect(await umg(['diff', at('second.yaml')])).to.deep.equal({ code: 1, stdout: `${CHANGED}\n`, stderr: '' })
    const { code, stdout, stderr } = await umg(['diff', at('wrong.yaml')])
    expect({ code, stdout }).to.deep.equal({ code: 2, stdout: '' })
    expect(stderr).to.contain('wrong.yaml is not valid')
    expect(await tableInUse(gateway)).to.equal('first')
  })

  it('reloads the table, and sees its errors', async () => {
    expect(await umg(['reload'])).to.deep.equal({ code: 0, stdout: 'nothing has changed\n', stderr: '' })
    await replaceFile(at('routes.yaml'), 'version: 2\n')
    const { code, stdout, stderr } = await umg(['reload'])
    expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' })
    expect(stderr).to.match(/routes\.yaml:1:10: [\s\S]*not valid: \d errors?\nThe previous routing table stays in use\.\n$/)
  })

  it('sees what to do if the gateway cannot be called', async () => {
    const nowhere = await closedOrigin()
    for (const [args, environment, message] of [
      [['reload'], {}, 'set UMG_ADMIN_KEY to an admin key'],
      [['reload'], { ...env, UMG_ADMIN_KEY: 'sk-admin-wrong' }, 'refuses the key of UMG_ADMIN_KEY'],
      [['reload', '--url', gateway.url], env, 'is not the management API of a gateway'],
      [['reload', '--url', nowhere], env, `${nowhere} does not answer`],
      [['reload', '--url', 'nonsense'], env, 'Give a URL, such as http://127.0.0.1:8080.'],
    ] as const) {
      const { code, stdout, stderr } = await umg(args, environment)
      expect(stderr).to.contain(message)
      expect(stdout).to.equal('')
      expect(code).to.equal(message.startsWith('Give') ? 1 : 2)
    }
  })
})

describe('the default of --url', () => {
  for (const [env, url] of [
    [{}, 'http://127.0.0.1:8080'],
    [{ PORT: '9000' }, 'http://127.0.0.1:9000'],
    [{ UMG_PORT: '9001', PORT: '9000' }, 'http://127.0.0.1:9001'],
    [{ UMG_HOST: '0.0.0.0' }, 'http://127.0.0.1:8080'],
    [{ UMG_HOST: '::', UMG_PORT: '9001' }, 'http://127.0.0.1:9001'],
    [{ UMG_HOST: '::1' }, 'http://[::1]:8080'],
    [{ UMG_HOST: '10.0.0.7', UMG_ADMIN_LISTEN: '127.0.0.2:9090' }, 'http://127.0.0.2:9090'],
    [{ UMG_ADMIN_LISTEN: '[::]:9090' }, 'http://127.0.0.1:9090'],
  ] as const) {
    it(`is ${url} with ${JSON.stringify(env)}`, () => {
      expect(defaultUrl(env)).to.equal(url)
    })
  }
})

describe('SIGHUP', () => {
  it('reloads the table, and does not end the gateway', async () => {
    const home = await Home.create({ 'routes.yaml': table('first') })
    try {
      const { umg, url } = await home.start()
      umg.signal('SIGHUP')
      await umg.prints(/"trigger":"signal".*"difference":\[\].*"routing table reloaded"/)
      expect((await fetch(`${url}/readyz`)).status).to.equal(200)
    } finally {
      await home.remove()
    }
  })
})
