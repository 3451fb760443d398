import { setTimeout } from 'node:timers/promises'
import { expect } from 'chai'
import { onEachDatabase } from '../../support/databases.ts'
import { Home } from '../lifecycle/umg.ts'
import { ApiClient } from './api-client.ts'

const ROUTES = 'version: 1\nchain: [{ plugin: auth }]\nnamespaces: { sandbox: { provider: sandbox } }\n'
const SETUP = /Console +(http:\S+)\/console\/setup#([\w-]{43})\n/

onEachDatabase('the command line beside a running gateway', (database) => {
  it('sets it up, invites a user, and creates, rotates and revokes keys', async () => {
    const at = ['--database', await database()]
    const home = await Home.create({ 'routes.yaml': ROUTES })
    try {
      const first = await home.start(...at)
      const [, origin, token] = await first.umg.prints(SETUP)
      expect(origin).to.equal(first.url)
      const admin = new ApiClient(first.url)
      const ada = { email: 'ada@example.com', name: 'Ada', password: 'correct horse battery' }
      expect((await admin.post('/setup', { ...ada, token })).status).to.equal(201)

      const umg = async (...args: string[]) => {
        const { code, stdout, stderr } = await home.run([...args, ...at]).ended
        expect(code, stderr).to.equal(0)
        return stdout.trim()
      }
      const account = await umg('accounts', 'create', '--name', 'Acme')
      const link = await umg('users', 'invite', 'bob@example.com', '--account', account, '--console-url', first.url)
      const bob = { token: link.split('#')[1], name: 'Bob', password: 'correct horse battery' }
      expect((await new ApiClient(first.url).post('/invitations/accept', bob)).body.account).to.deep.equal({
        id: account,
        name: 'Acme',
      })

      const { id, secret } = JSON.parse(await umg('keys', 'create', '--name', 'ci', '--account', account, '--json'))
      const status = async (key: string) =>
        (await fetch(`${first.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })).status
      expect(await status(secret)).to.equal(200)
      const successor = await umg('keys', 'rotate', id, '--overlap', '1h')
      expect([await status(secret), await status(successor)]).to.deep.equal([200, 200])
      await umg('keys', 'revoke', id)
      while ((await status(secret)) !== 401) await setTimeout(10)
      expect(await status(successor)).to.equal(200)
      const trail = JSON.parse(await umg('audit', '--action', 'key', '--json')) as { action: string; object: { id: string } }[]
      expect(trail.filter(({ object }) => object.id === id).map(({ action }) => action)).to.include.members([
        'key.create',
        'key.revoke',
      ])
      expect(await umg('audit', '--actor', 'ada', '--limit', '1')).to.match(/^AT +WHO .*\n\S+Z +Ada +127\.0\.0\.1 +\S+/)

      first.umg.signal('SIGINT')
      await first.umg.ended
      const second = await home.start(...at)
      second.umg.signal('SIGINT')
      expect((await second.umg.ended).stdout).to.not.include('setup')
    } finally {
      await home.remove()
    }
  })
})

describe('umg start', () => {
  for (const [what, flags, said] of [
    ['an unavailable database', ['--database', 'postgres://umg:hunter2@127.0.0.1:1/umg'], 'Start its server'],
    ['an unknown kind of database', ['--database', 'mysql://umg:hunter2@db/umg'], 'must be `sqlite:'],
    ['a provider without a client', ['--oidc-issuer', 'https://login.example.com'], '--oidc-client-id'],
  ] as const) {
    it(`with ${what} says what to do, without the password`, async () => {
      const home = await Home.create({ 'routes.yaml': ROUTES })
      const { code, stderr } = await home.run(['start', '--port', '0', ...flags]).ended
      expect(code).to.equal(1)
      expect(stderr).to.include(said).and.not.include('hunter2')
      await home.remove()
    })
  }
})
