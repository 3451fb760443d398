import { expect } from 'chai'
import { onSqlite } from '../../support/databases.ts'
import { type ApiClient, refusalOf } from './api-client.ts'
import { type Fixture, PASSWORD, startFixture } from './fixture.ts'

const ADA = { email: 'ada@example.com', password: PASSWORD }

onSqlite('the management API and browsers', (database) => {
  let fixture: Fixture
  before(async () => {
    fixture = await startFixture(await database())
  })
  after(() => fixture?.stop())

  describe('a request from a page of another site', () => {
    /** The headers of such requests. */
    const FOREIGN: Readonly<Record<string, Readonly<Record<string, string>>>> = {
      'from another site': { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
      'from another host of the same site': { 'sec-fetch-site': 'same-site', origin: 'http://evil.127.0.0.1' },
      'from another port': { 'sec-fetch-site': 'same-site', origin: 'http://127.0.0.1:1' },
      'from a sandboxed frame': { 'sec-fetch-site': 'cross-site', origin: 'null' },
      'of a browser without Sec-Fetch-Site': { origin: 'https://evil.example' },
      'with an origin that begins like ours': { origin: 'http://127.0.0.1.evil.example' },
      'with neither, and a cookie': { origin: '' },
      'with an empty key': { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example', authorization: '' },
      'with a blank key': { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example', authorization: ' ' },
    }

    for (const [what, headers] of Object.entries(FOREIGN)) {
      it(`cannot change anything (${what})`, async () => {
        const before = await accounts(fixture.admin)
        const { origin, ...others } = headers
        const sent = origin === '' ? others : headers
        const refused = [
          await raw('POST', '/accounts', { name: 'Evil', models: ['*'] }, sent),
          await raw('PATCH', `/accounts/${fixture.account}`, { models: ['*'] }, sent),
          await raw('DELETE', '/session', {}, sent),
          await raw('POST', '/session', ADA, sent),
        ]
        for (const response of refused) expect(await refusalOf(response)).to.deep.equal([403, 'foreign_origin'])
        expect(await accounts(fixture.admin)).to.deep.equal(before)
        expect(refused.flatMap(({ headers }) => headers.getSetCookie())).to.deep.equal([])
      })
    }

    it('cannot change anything by a form, whose content types need no preflight', async () => {
      for (const type of ['application/x-www-form-urlencoded', 'multipart/form-data', 'text/plain', '']) {
        const response = await fetch(`${fixture.gateway.url}/api/v1/accounts`, {
          method: 'POST',
          headers: { cookie: fixture.admin.cookieHeader, origin: fixture.gateway.url, 'content-type': type },
          body: '{"name":"Evil","models":["*"]}',
        })
        expect(response.status).to.equal(415)
      }
    })

    it('gets no permission by a preflight request', async () => {
      const response = await fetch(`${fixture.gateway.url}/api/v1/keys`, {
        method: 'OPTIONS',
        headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST' },
      })
      expect(response.headers.get('access-control-allow-origin')).to.equal(null)
      expect(response.status).to.equal(405)
    })

    const accounts = async (client: ApiClient) => (await client.get('/accounts')).body.data

    /** Sends a request without the headers of the console. */
    function raw(method: string, path: string, body: object, headers: Readonly<Record<string, string>>): Promise<Response> {
      return fetch(`${fixture.gateway.url}/api/v1${path}`, {
        method,
        headers: { 'content-type': 'application/json', cookie: fixture.admin.cookieHeader, ...headers },
        body: JSON.stringify(body),
      })
    }
  })

  it('serve requests of the console, whichever of the two headers they have', async () => {
    const { url } = fixture.gateway
    for (const headers of [
      { 'sec-fetch-site': 'same-origin', origin: url },
      { 'sec-fetch-site': 'same-origin' },
      { origin: url },
    ]) {
      const response = await fetch(`${url}/api/v1/keys`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', cookie: fixture.admin.cookieHeader, ...headers },
        body: '{"name":"laptop","kind":"live"}',
      })
      expect(response.status).to.equal(201)
    }
  })

  it('forbid caching, sniffing and framing on every reply', async () => {
    for (const path of ['/session', '/keys', '/nowhere', '/users']) {
      const { headers, status } = await fixture.member.get(path)
      if (status === 404) continue
      const told = Object.fromEntries(
        ['cache-control', 'x-content-type-options', 'x-frame-options', 'referrer-policy'].map((name) => [
          name,
          headers.get(name),
        ]),
      )
      expect(told).to.deep.equal({
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'referrer-policy': 'no-referrer',
      })
      expect(headers.get('content-security-policy')).to.include("default-src 'none'").and.include("frame-ancestors 'none'")
      expect(headers.get('access-control-allow-origin')).to.equal(null)
    }
  })

  describe('use a session cookie', () => {
    const cookieOf = async (of: Fixture) => (await of.newClient().post('/session', ADA)).headers.getSetCookie()

    it('that is HttpOnly and SameSite=Strict', async () => {
      const [line] = await cookieOf(fixture)
      expect(line).to.match(/^umg_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/)
    })

    it('that has the prefix __Host- and is Secure, if the console has an https URL', async () => {
      const behindTls = await startFixture(await database(), { urls: { people: 'https://llm.example.com' } })
      const [line] = await cookieOf(behindTls)
      expect(line).to.match(/^__Host-umg_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Secure$/)
      const { headers } = await behindTls.admin.get('/session')
      expect(headers.get('strict-transport-security')).to.equal('max-age=31536000')
      await behindTls.stop()
    })

    it('that another host of the same site cannot set', async () => {
      const behindTls = await startFixture(await database(), { urls: { people: 'https://llm.example.com' } })
      const client = behindTls.newClient()
      client.cookies.set('umg_session', behindTls.admin.cookies.get('__Host-umg_session')!)
      expect((await client.get('/session')).status).to.equal(401)
      await behindTls.stop()
    })
  })

  it('behind a proxy accept the origin of the console’s URL, and no other with TLS', async () => {
    for (const [own, origin, status] of [
      ['http://llm.example.com', 'http://llm.example.com', 401],
      ['https://llm.example.com', 'https://llm.example.com', 401],
      ['https://llm.example.com', 'http://llm.example.com', 403],
    ] as const) {
      const behindProxy = await startFixture(await database(), { urls: { people: own } })
      const response = await fetch(`${behindProxy.gateway.url}/api/v1/session`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', origin },
        body: JSON.stringify({ ...ADA, password: 'wrong' }),
      })
      expect(response.status).to.equal(status)
      await behindProxy.stop()
    }
  })
})
