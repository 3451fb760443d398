import { mock } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { expect } from 'chai'
import { onEachDatabase } from '../../support/databases.ts'
import type { ApiClient, ApiReply } from './api-client.ts'
import { type Fixture, PASSWORD, startFixture } from './fixture.ts'

const MINUTE = 60_000
const ADA = { email: 'ada@example.com', password: PASSWORD }
const BOB = { email: 'bob@example.com', password: PASSWORD }

const outcome = ({ status, body }: ApiReply) => [status, body.code]

onEachDatabase('signing in', (database) => {
  let fixture: Fixture
  before(async () => {
    fixture = await startFixture(await database())
  })
  beforeEach(() => fixture.restore())
  afterEach(() => mock.timers.reset())
  after(() => fixture?.stop())

  const REFUSED = [401, 'not_signed_in']
  const session = async (client: ApiClient) => outcome(await client.get('/session'))

  it('gives a session with the user, the account and the base URL for clients', async () => {
    const { url } = fixture.gateway
    const { body } = await fixture.member.get('/session')
    const { confirmed_until, ...session } = body
    expect(Date.parse(String(confirmed_until)) - Date.now()).to.be.within(14 * MINUTE, 15 * MINUTE)
    expect(session).to.deep.equal({
      user: { id: fixture.memberId, email: 'bob@example.com', name: 'Bob', role: 'member', has_password: true },
      account: { id: fixture.account, name: 'Acme' },
      gateway: { base_url: `${url}/v1`, version: 'test', usage_hours_seconds: 30 * 86_400 },
    })
    expect((await fixture.program.get('/session')).body.user).to.include({
      email: null,
      name: 'terraform',
      role: 'admin',
      has_password: false,
    })
  })

  it('ignores the case of the e-mail address', async () => {
    expect((await fixture.newClient().post('/session', { ...ADA, email: ' Ada@Example.COM'.trim() })).status).to.equal(201)
  })

  it('is refused in the same way for a wrong password, an unknown address, and a disabled user', async () => {
    await fixture.admin.patch(`/users/${fixture.memberId}`, { disabled: true })
    const replies = await Promise.all(
      [{ ...ADA, password: 'not the password' }, { email: 'nobody@example.com', password: PASSWORD }, BOB].map((credentials) =>
        fixture.newClient().post('/session', credentials),
      ),
    )
    for (const { status, text } of replies) expect([status, text]).to.deep.equal([replies[0]!.status, replies[0]!.text])
    expect(outcome(replies[0]!)).to.deep.equal([401, 'sign_in_refused'])
  })

  it('is written to the audit trail, and so is every refusal', async () => {
    await fixture.newClient().post('/session', { ...ADA, password: 'not the password' })
    await fixture.newClient().post('/session', { email: 'nobody@example.com', password: PASSWORD })
    await fixture.newClient().post('/session', ADA)
    const { body } = await fixture.admin.get('/audit?limit=3')
    expect(body.data!.map(({ action, actor, object, ip }) => ({ action, actor, object, ip }))).to.deep.equal([
      {
        action: 'session.start',
        actor: { id: fixture.adminId, name: 'Ada' },
        object: { type: 'user', id: fixture.adminId, name: 'Ada' },
        ip: '127.0.0.1',
      },
      { action: 'session.refuse', actor: null, object: { type: 'user', id: null, name: 'nobody@example.com' }, ip: '127.0.0.1' },
      { action: 'session.refuse', actor: null, object: { type: 'user', id: fixture.adminId, name: 'Ada' }, ip: '127.0.0.1' },
    ])
  })

  describe('repeatedly', () => {
    const SECONDS = 1000
    const wait = (ms: number) => mock.timers.tick(ms)
    // Time stands still, so that no delay ends by itself.
    beforeEach(() => mock.timers.enable({ apis: ['Date'], now: Date.now() }))

    it('waits longer after each failure of a person from a network, and no longer than fifteen minutes', async () => {
      for (let i = 0; i < 5; i++) expect(outcome(await from('192.0.2.7', 'wrong'))).to.deep.equal([401, 'sign_in_refused'])
      for (const seconds of [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]) {
        const early = await from('192.0.2.7', PASSWORD)
        expect(outcome(early)).to.deep.equal([429, 'too_many_sign_in_attempts'])
        expect(early.headers.get('retry-after')).to.equal(String(seconds))
        wait(seconds * SECONDS)
        expect(outcome(await from('192.0.2.7', 'wrong'))).to.deep.equal([401, 'sign_in_refused'])
      }
      wait(900 * SECONDS)
      expect((await from('192.0.2.7', PASSWORD)).status).to.equal(201)
      expect(outcome(await from('192.0.2.7', 'wrong'))).to.deep.equal([401, 'sign_in_refused'])
    })

    it('is not delayed by attempts without a delay that a gateway counted whose clock is ahead', async () => {
      expect(outcome(await from('192.0.2.7', 'wrong', BOB.email))).to.deep.equal([401, 'sign_in_refused'])
      mock.timers.setTime(Date.now() - 3 * SECONDS)
      expect(outcome(await from('192.0.2.7', 'wrong'))).to.deep.equal([401, 'sign_in_refused'])
      expect((await from('192.0.2.7', PASSWORD)).status).to.equal(201)
    })

    it("is not refused for a colleague's mistakes in the same network", async () => {
      for (let i = 0; i < 9; i++) await from('192.0.2.7', 'wrong', BOB.email)
      expect(outcome(await from('192.0.2.7', PASSWORD, BOB.email))).to.deep.equal([429, 'too_many_sign_in_attempts'])
      expect((await from('192.0.2.7', PASSWORD)).status).to.equal(201)
    })

    it('is not refused for five wrong passwords of strangers elsewhere', async () => {
      for (let i = 0; i < 9; i++) await from(`198.51.100.${i}`, 'wrong')
      expect((await from('192.0.2.7', PASSWORD)).status).to.equal(201)
    })

    it('is slowed down for guesses from many networks, but never in a browser that the user has signed in with', async () => {
      const own = proxied.newClient()
      expect((await own.post('/session', ADA)).status).to.equal(201)
      await own.delete('/session')
      for (let i = 0; i < 20; i++) await from(`198.51.100.${i}`, 'wrong')
      expect(outcome(await from('192.0.2.7', PASSWORD))).to.deep.equal([429, 'too_many_sign_in_attempts'])
      expect((await own.post('/session', ADA)).status).to.equal(201)
    })

    it('is slowed down for guesses at many persons from one network', async () => {
      for (let i = 0; i < 50; i++)
        expect(outcome(await from('192.0.2.7', PASSWORD, `user-${i}@example.com`))).to.deep.equal([401, 'sign_in_refused'])
      expect(outcome(await from('192.0.2.7', PASSWORD))).to.deep.equal([429, 'too_many_sign_in_attempts'])
      expect((await from('192.0.2.8', PASSWORD)).status).to.equal(201)
    })

    it('with the cookie of another user, or a forged one, is as that of a stranger', async () => {
      const bob = proxied.newClient()
      await bob.post('/session', BOB)
      const cookie = bob.cookies.get('umg_device')!
      for (let i = 0; i < 5; i++) await proxied.newClient().post('/session', { ...ADA, password: 'wrong' })
      for (const value of [cookie, `${cookie}x`, `x${cookie}`, '.', 'x']) {
        const client = proxied.newClient()
        client.cookies.set('umg_device', value)
        expect(outcome(await client.post('/session', ADA))).to.deep.equal([429, 'too_many_sign_in_attempts'])
      }
    })

    it('does not refuse a change of the own password for what strangers did', async () => {
      for (let i = 0; i < 20; i++) await from(`198.51.100.${i}`, 'wrong', BOB.email)
      const change = { current: PASSWORD, new: 'another battery staple' }
      expect((await proxied.member.post('/password', change)).status).to.equal(200)
    })

    it('counts an IPv6 /64 as one network', async () => {
      for (const last of ['1', 'ffff', 'a:b', '0:2', '9']) await from(`2001:db8:0:7::${last}`, 'wrong')
      expect(outcome(await from('2001:db8:0:7:1:2:3:4', PASSWORD))).to.deep.equal([429, 'too_many_sign_in_attempts'])
      expect((await from('2001:db8:0:8::1', PASSWORD)).status).to.equal(201)
    })

    it('and concurrently counts every attempt', async () => {
      const tries = Array.from({ length: 20 }, () => fixture.newClient().post('/session', { ...ADA, password: 'wrong' }))
      const statuses = (await Promise.all(tries)).map(({ status }) => status)
      expect(statuses.filter((status) => status === 401)).to.have.length(5)
      expect(statuses.filter((status) => status === 429)).to.have.length(15)
    })

    it('ignores X-Forwarded-For of an untrusted proxy', async () => {
      for (let i = 0; i < 5; i++)
        await fixture.newClient().post('/session', { ...ADA, password: 'x' }, { headers: { 'x-forwarded-for': `192.0.2.${i}` } })
      const { status } = await fixture.newClient().post('/session', ADA, { headers: { 'x-forwarded-for': '192.0.2.99' } })
      expect(status).to.equal(429)
    })

    /** A gateway that trusts proxies on loopback. */
    let proxied: Fixture
    before(async () => {
      proxied = await startFixture(await database(), { trustedProxies: ['127.0.0.0/8'] })
    })
    beforeEach(() => proxied.restore())
    after(() => proxied?.stop())

    /** The first address is forged by the client; the proxy appends the second one. */
    const from = (address: string, password: string, email = ADA.email): Promise<ApiReply> =>
      proxied.newClient().post('/session', { email, password }, { headers: { 'x-forwarded-for': `198.51.100.1, ${address}` } })
  })

  describe('begins a session', () => {
    it('with a new token, whatever cookie the browser had', async () => {
      const planted = 'x'.repeat(43)
      const victim = fixture.newClient()
      victim.cookies.set('umg_session', planted)
      await victim.post('/session', ADA)
      expect(victim.cookies.get('umg_session'))
        .to.match(/^[\w-]{43}$/)
        .and.not.equal(planted)
      const attacker = fixture.newClient()
      attacker.cookies.set('umg_session', planted)
      expect(await session(attacker)).to.deep.equal(REFUSED)
    })

    it('whose token is stored as a digest only', async () => {
      const token = fixture.admin.cookies.get('umg_session')!
      const rows = await fixture.gateway.store.db.selectFrom('sessions').selectAll().execute()
      expect(JSON.stringify(rows)).to.not.include(token)
      const thief = fixture.newClient()
      thief.cookies.set('umg_session', rows[0]!.digest)
      expect(await session(thief)).to.deep.equal(REFUSED)
    })

    /** Uses the admin's session so much later. Resolves when that is stored: the request does not wait for it. */
    async function useAfter(ms: number): Promise<void> {
      mock.timers.tick(ms)
      expect(await session(fixture.admin)).to.deep.equal([200, undefined])
      const stored = () =>
        fixture.gateway.store.db.selectFrom('sessions').select('seen_at').where('seen_at', '=', Date.now()).execute()
      while ((await stored()).length === 0) await setImmediate()
    }

    it('that ends after thirty minutes without a request, and not before', async () => {
      mock.timers.enable({ apis: ['Date'], now: Date.now() })
      for (let i = 0; i < 3; i++) await useAfter(29 * MINUTE)
      mock.timers.tick(30 * MINUTE)
      expect(await session(fixture.admin)).to.deep.equal(REFUSED)
    })

    it('that ends after twelve hours in any case', async () => {
      mock.timers.enable({ apis: ['Date'], now: Date.now() })
      for (let i = 0; i < 35; i++) await useAfter(20 * MINUTE)
      mock.timers.tick(20 * MINUTE)
      expect(await session(fixture.admin)).to.deep.equal(REFUSED)
    })

    it('that ends when the user signs out, here or everywhere', async () => {
      const [here, there, elsewhere] = [fixture.newClient(), fixture.newClient(), fixture.newClient()]
      for (const client of [here, there, elsewhere]) await client.post('/session', BOB)
      const stolen = fixture.newClient()
      stolen.cookies.set('umg_session', here.cookies.get('umg_session')!)
      await here.delete('/session')
      expect(here.cookies.has('umg_session')).to.equal(false)
      expect([await session(stolen), await session(there)]).to.deep.equal([REFUSED, [200, undefined]])
      await there.delete('/sessions')
      expect([await session(elsewhere), await session(fixture.member)]).to.deep.equal([REFUSED, REFUSED])
      expect(await session(fixture.admin)).to.deep.equal([200, undefined])
    })

    it('that ends when the password changes, except the one that changed it', async () => {
      const elsewhere = fixture.newClient()
      await elsewhere.post('/session', BOB)
      const before = fixture.member.cookies.get('umg_session')
      const change = { current: PASSWORD, new: 'another battery staple' }
      expect((await fixture.member.post('/password', change)).status).to.equal(200)
      expect(fixture.member.cookies.get('umg_session')).to.not.equal(before)
      expect(await session(fixture.member)).to.deep.equal([200, undefined])
      expect(await session(elsewhere)).to.deep.equal(REFUSED)
      expect((await fixture.newClient().post('/session', BOB)).status).to.equal(401)
      expect((await fixture.newClient().post('/session', { ...BOB, password: change.new })).status).to.equal(201)
    })

    it('that changes the password only with the current one', async () => {
      const change = { current: 'not the password', new: 'another battery staple' }
      const wrong = await fixture.member.post('/password', change)
      expect(outcome(wrong)).to.deep.equal([403, 'wrong_password'])
      expect(wrong.body).to.include({ param: 'current' })
      const short = { current: PASSWORD, new: 'short' }
      expect((await fixture.member.post('/password', short)).body).to.include({ code: 'invalid_value', param: 'new' })
      expect(await session(fixture.member)).to.deep.equal([200, undefined])
    })

    it('in which a wrong current password is audited as such, and not as a refused sign-in', async () => {
      await fixture.member.post('/password', { current: 'not the password', new: 'another battery staple' })
      const { body } = await fixture.admin.get('/audit?limit=1')
      const bob = { id: fixture.memberId, name: 'Bob' }
      expect(body.data![0]).to.deep.include({ action: 'password.refuse', actor: bob, object: { type: 'user', ...bob } })
    })

    for (const [what, change] of Object.entries({
      'is disabled': { disabled: true },
      'gets another role': { role: 'admin' },
    })) {
      it(`that ends when the user ${what}`, async () => {
        await fixture.admin.patch(`/users/${fixture.memberId}`, change)
        expect(await session(fixture.member)).to.deep.equal(REFUSED)
      })
    }

    it('that an admin can end', async () => {
      await fixture.admin.post(`/users/${fixture.memberId}/end-sessions`)
      expect(await session(fixture.member)).to.deep.equal(REFUSED)
    })

    it('whose end closes a live stream', async () => {
      mock.timers.enable({ apis: ['setInterval'] })
      const response = await fetch(`${fixture.gateway.url}/api/v1/requests/live`, {
        headers: { cookie: fixture.member.cookieHeader },
      })
      expect(response.status).to.equal(200)
      mock.timers.tick(15_000)
      await fixture.admin.post(`/users/${fixture.memberId}/end-sessions`)
      mock.timers.tick(15_000)
      const reading = response.text().catch(() => 'aborted')
      expect(await reading).to.equal('aborted')
    })
  })
})
