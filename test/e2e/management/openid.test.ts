import { expect } from 'chai'
import { openIdProvider } from '../../../core/accounts/openid.ts'
import { closedOrigin } from '../../support/closed-port.ts'
import { onEachDatabase } from '../../support/databases.ts'
import { type Issuer, startIssuer } from '../../support/openid-issuer.ts'
import type { ApiClient, ApiReply } from './api-client.ts'
import { type Fixture, startFixture } from './fixture.ts'

onEachDatabase('signing in by an OpenID provider', (database) => {
  let issuer: Issuer
  let fixture: Fixture
  before(async () => {
    issuer = await startIssuer()
    fixture = await startFixture(await database(), { openid: issuer.openid })
    issuer.redirectTo(`${fixture.gateway.url}/api/v1/oidc/callback`)
  })
  after(async () => {
    await fixture?.stop()
    await issuer?.stop()
  })

  /** Follows redirects as a browser does, until one leads to the console. */
  async function travel(
    client: ApiClient,
    who: string,
    start = '/oidc/start',
  ): Promise<{ readonly location: string; readonly last: ApiReply }> {
    const jar = new Map<string, string>()
    let last = await client.get(start)
    let location = last.headers.get('location')!
    while (!location.startsWith(`${fixture.gateway.url}/console/`)) {
      if (location.startsWith(fixture.gateway.url)) {
        last = await client.get(location.slice(`${fixture.gateway.url}/api/v1`.length))
        location = last.headers.get('location')!
        continue
      }
      const cookie = Array.from(jar, ([name, value]) => `${name}=${value}`).join('; ')
      const response = await fetch(location, { redirect: 'manual', headers: { cookie, 'x-client': who } })
      for (const line of response.headers.getSetCookie()) jar.set(...(line.split(';')[0]!.split('=') as [string, string]))
      location = new URL(response.headers.get('location')!, location).href
    }
    return { location, last }
  }

  const arrived = () => `${fixture.gateway.url}/console/`
  const refused = (code: string) => `${fixture.gateway.url}/console/sign-in?error=${code}`

  it('is listed among the ways to sign in', async () => {
    expect((await fixture.newClient().get('/sign-in')).body.oidc).to.deep.equal({ name: 'Example', path: '/api/v1/oidc/start' })
  })

  it('signs in the user of a verified address, and later by the identity, whatever the address', async () => {
    issuer.people.set('b-17', { email: 'Bob@example.com', email_verified: true, name: 'Robert' })
    const client = fixture.newClient()
    expect((await travel(client, 'b-17')).location).to.equal(arrived())
    expect((await client.get('/session')).body.user).to.include({ id: fixture.memberId, name: 'Bob' })
    expect([...client.cookies.keys()]).to.deep.equal(['umg_session'])
    issuer.people.set('b-17', { email: 'robert@elsewhere.example', email_verified: true })
    const again = fixture.newClient()
    await travel(again, 'b-17')
    expect((await again.get('/session')).body.user).to.include({ id: fixture.memberId })
  })

  it('lets an admin give rights for 15 minutes after the sign-in at the provider, which is asked to sign in anew', async () => {
    issuer.people.set('a-1', { email: 'ada@example.com', email_verified: true })
    const client = fixture.newClient()
    const createKey = async () => (await client.post('/keys', { name: 'of an admin', kind: 'admin' })).status
    issuer.signedInAt = Math.floor(Date.now() / 1000) - 3600
    await travel(client, 'a-1')
    issuer.signedInAt = undefined
    expect(await createKey()).to.equal(403)
    const asked = await fixture.newClient().get('/oidc/start?again=true')
    expect(new URL(asked.headers.get('location')!).searchParams.get('max_age')).to.equal('0')
    await travel(client, 'a-1', '/oidc/start?again=true')
    expect(await createKey()).to.equal(201)
  })

  it('refuses another identity with the address of a linked user', async () => {
    issuer.people.set('mallory', { email: 'bob@example.com', email_verified: true })
    expect((await travel(fixture.newClient(), 'mallory')).location).to.equal(refused('openid_refused'))
  })

  it('refuses an unverified or missing address', async () => {
    issuer.people.set('unverified', { email: 'ada@example.com', email_verified: false })
    issuer.people.set('unsaid', { email: 'ada@example.com' })
    issuer.people.set('nameless', {})
    for (const who of ['unverified', 'unsaid', 'nameless']) {
      const client = fixture.newClient()
      expect((await travel(client, who)).location).to.equal(refused('openid_refused'))
      expect((await client.get('/session')).status).to.equal(401)
    }
    const { body } = await fixture.admin.get('/audit?limit=1')
    expect(body.data![0]).to.include({ action: 'session.refuse', actor: null, ip: '127.0.0.1' })
  })

  it('creates an invited user, once, without a password', async () => {
    issuer.people.set('cy', { email: 'cy@example.com', email_verified: true, name: 'Cy' })
    expect((await travel(fixture.newClient(), 'cy')).location).to.equal(refused('openid_refused'))
    await fixture.admin.post('/invitations', { email: 'cy@example.com', role: 'member', account_id: fixture.account })
    const client = fixture.newClient()
    expect((await travel(client, 'cy')).location).to.equal(arrived())
    expect((await client.get('/session')).body).to.deep.include({ account: { id: fixture.account, name: 'Acme' } })
    expect((await fixture.admin.get('/invitations')).body.data).to.deep.equal([])
    const byPassword = await fixture.newClient().post('/session', { email: 'cy@example.com', password: 'whatever it may be' })
    expect(byPassword.status).to.equal(401)
  })

  it('refuses a disabled user', async () => {
    issuer.people.set('dan', { email: 'dan@example.com', email_verified: true, name: 'Dan' })
    await fixture.admin.post('/invitations', { email: 'dan@example.com', role: 'member', account_id: fixture.account })
    await travel(fixture.newClient(), 'dan')
    const { id } = (await fixture.admin.get('/users?limit=1')).body.data![0]!
    await fixture.admin.patch(`/users/${id}`, { disabled: true })
    expect((await travel(fixture.newClient(), 'dan')).location).to.equal(refused('openid_refused'))
  })

  it('works only in the browser that started it', async () => {
    const [victim, attacker] = [fixture.newClient(), fixture.newClient()]
    issuer.people.set('ada', { email: 'ada@example.com', email_verified: true })
    // The attacker signs in, stops before the callback, and gives its URL to the victim.
    let way = ''
    const get = attacker.get.bind(attacker)
    attacker.get = async (path) => {
      if (!path.startsWith('/oidc/callback')) return get(path)
      way = path
      return { headers: new Headers({ location: arrived() }) } as ApiReply
    }
    await travel(attacker, 'ada')
    expect((await victim.get(way)).headers.get('location')).to.equal(refused('openid_failed'))
    await victim.get('/oidc/start')
    expect((await victim.get(way)).headers.get('location')).to.equal(refused('openid_failed'))
    expect((await victim.get('/session')).status).to.equal(401)
  })

  for (const path of ['/oidc/callback', '/oidc/callback?code=made-up&state=x', '/oidc/callback?error=access_denied']) {
    it(`redirects ${path} to the sign-in page with an error`, async () => {
      expect((await fixture.newClient().get(path)).headers.get('location')).to.equal(refused('openid_failed'))
    })
  }

  it('reports an unavailable provider, which does not prevent the gateway from starting', async () => {
    const openid = openIdProvider({ issuer: await closedOrigin(), clientId: 'umg' })
    const away = await startFixture(await database(), { openid })
    const reply = await away.newClient().get('/oidc/start')
    expect(reply.headers.get('location')).to.equal(`${away.gateway.url}/console/sign-in?error=openid_failed`)
    expect(JSON.stringify(away.gateway.log)).to.include('ECONNREFUSED')
    await away.stop()
  })

  it('is absent if no provider is configured', async () => {
    const without = await startFixture(await database())
    expect((await without.newClient().get('/sign-in')).body.oidc).to.equal(null)
    expect((await without.newClient().get('/oidc/start')).status).to.equal(404)
    await without.stop()
  })
})
