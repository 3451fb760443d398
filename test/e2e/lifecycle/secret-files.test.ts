import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { Home } from './umg.ts'

const ROUTES = 'version: 1\nchain: [{ plugin: auth }]\nnamespaces: { sandbox: { provider: sandbox } }\n'

describe('a variable whose name ends in _FILE', () => {
  let home: Home
  beforeEach(async () => {
    home = await Home.create({ 'routes.yaml': ROUTES, token: 'token-of-metrics\n', database: 'sqlite:named.db\n', empty: '\n' })
  })
  afterEach(() => home?.remove())

  const ENV = { UMG_METRICS_TOKEN_FILE: 'token', UMG_DATABASE_URL_FILE: 'database' }

  for (const workers of ['1', '2'])
    it(`names the file of a secret, in all processes (--workers ${workers})`, async () => {
      const umg = home.run(['start', '--port', '0', '--workers', workers], { env: ENV })
      const [, url] = await umg.prints(/^listening on (\S+)$/m)
      expect((await fetch(`${url}/metrics`)).status).to.equal(401)
      const headers = { authorization: 'Bearer token-of-metrics' }
      expect((await fetch(`${url}/metrics`, { headers })).status).to.equal(200)
      expect((await home.read('named.db')).startsWith('SQLite format 3')).to.equal(true)
    })

  it('holds for all commands', async () => {
    const { code } = await home.run(['keys', 'create', '--name', 'one'], { env: ENV }).ended
    expect(code).to.equal(0)
    expect((await home.read('named.db')).startsWith('SQLite format 3')).to.equal(true)
  })

  const UNUSABLE: readonly { readonly name: string; readonly env: Record<string, string>; readonly says: string }[] = [
    {
      name: 'a file that does not exist',
      env: { UMG_METRICS_TOKEN_FILE: 'none' },
      says: 'UMG_METRICS_TOKEN_FILE: none cannot be read (ENOENT): name a file that this user may read.\n',
    },
    {
      name: 'an empty file',
      env: { UMG_METRICS_TOKEN_FILE: 'empty' },
      says: 'UMG_METRICS_TOKEN_FILE: empty is empty: write the value into it, or remove the variable.\n',
    },
    {
      name: 'a variable that has its value already',
      env: { UMG_METRICS_TOKEN_FILE: 'token', UMG_METRICS_TOKEN: 'other' },
      says: 'UMG_METRICS_TOKEN and UMG_METRICS_TOKEN_FILE are both set: remove one of them.\n',
    },
  ]

  for (const { name, env, says } of UNUSABLE)
    it(`does not start a gateway with ${name}`, async () => {
      const { code, stderr } = await home.run(['start', '--port', '0'], { env }).ended
      expect({ code, stderr }).to.deep.equal({ code: 2, stderr: says })
    })

  it('keeps the secret out of the environment of the processes that serve', async () => {
    const umg = home.run(['start', '--port', '0', '--workers', '2', '--log-level', 'info'], { env: ENV })
    const [, pid] = await umg.prints(/"processes":\{.*?"control\.\d+":(\d+)/)
    const environment = readFileSync(`/proc/${pid}/environ`, 'utf8')
    expect(environment).to.include('UMG_METRICS_TOKEN_FILE=token').and.not.include('token-of-metrics')
  })
})
