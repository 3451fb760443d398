import { mock } from 'node:test'
import { expect } from 'chai'
import { onEachDatabase } from '../../support/databases.ts'
import type { ApiClient, ApiReply } from './api-client.ts'
import { type Fixture, PASSWORD, startFixture, unique } from './fixture.ts'

const DAY = 24 * 3_600_000

const outcome = ({ status, body }: ApiReply) => [status, body.code]
const tokenOf = (link: unknown): string => String(link).split('#')[1]!

onEachDatabase('users', (database) => {
  let fixture: Fixture
  before(async () => {
    fixture = await startFixture(await database())
  })
  beforeEach(() => fixture.restore())
  afterEach(() => mock.timers.reset())
  after(() => fixture?.stop())

  async function invite(email = 'cy@example.com', more: object = {}): Promise<Record<string, unknown>> {
    const { status, body } = await fixture.admin.post('/invitations', {
      email,
      role: 'member',
      account_id: fixture.account,
      ...more,
    })
    expect(status).to.equal(201)
    return body
  }

  const accept = (token: string, client: ApiClient = fixture.newClient(), more: object = {}) =>
    client.post('/invitations/accept', { token, name: 'Cy', password: PASSWORD, ...more })

  describe('are invited', () => {
    it('by a link to the console, which shows the invitation and accepts it', async () => {
      const { link, id, ...invitation } = await invite('Cy@Example.com', { role: 'admin' })
      expect(link).to.match(new RegExp(`^${fixture.gateway.url}/console/invitation#[\\w-]{43}$`))
      expect(invitation).to.deep.include({
        email: 'cy@example.com',
        role: 'admin',
        account: { id: fixture.account, name: 'Acme' },
        created_by: { id: fixture.adminId, name: 'Ada' },
      })
      const { body } = await fixture.admin.get('/invitations')
      expect(body.data).to.deep.equal([{ id, ...invitation }])
      const client = fixture.newClient()
      expect((await client.post('/invitations/look', { token: tokenOf(link) })).body).to.deep.equal({
        email: 'cy@example.com',
        role: 'admin',
        account: { id: fixture.account, name: 'Acme' },
      })
      const { status, body: joined } = await accept(tokenOf(link), client)
      expect(status).to.equal(201)
      expect(joined.user).to.include({ email: 'cy@example.com', name: 'Cy', role: 'admin' })
      expect((await client.get('/users')).status).to.equal(200)
      expect((await fixture.admin.get('/invitations')).body.data).to.deep.equal([])
    })

    it('by a link that is invalid once it is used, withdrawn, expired, or replaced by a newer invitation', async () => {
      const used = tokenOf((await invite()).link)
      await accept(used)
      const withdrawn = await invite('dan@example.com')
      expect((await fixture.admin.delete(`/invitations/${withdrawn.id}`)).status).to.equal(204)
      const replaced = tokenOf((await invite('eve@example.com')).link)
      const newer = tokenOf((await invite('eve@example.com')).link)
      for (const token of [used, tokenOf(withdrawn.link), replaced, 'made up']) {
        expect(outcome(await fixture.newClient().post('/invitations/look', { token }))).to.deep.equal([410, 'link_invalid'])
        expect(outcome(await accept(token))).to.deep.equal([410, 'link_invalid'])
      }
      mock.timers.enable({ apis: ['Date'], now: Date.now() + 7 * DAY })
      expect(outcome(await accept(newer))).to.deep.equal([410, 'link_invalid'])
    })

    it('once, even if ten requests use the link concurrently', async () => {
      const token = tokenOf((await invite()).link)
      const outcomes = await Promise.all(Array.from({ length: 10 }, () => accept(token)))
      expect(outcomes.map(({ status }) => status).sort()).to.deep.equal([201, ...Array(9).fill(410)])
    })

    it('with the role and account of the invitation, whatever they send', async () => {
      const token = tokenOf((await invite()).link)
      for (const more of [{ role: 'admin' }, { account_id: 'default' }, { email: 'ada@example.com' }])
        expect((await accept(token, fixture.newClient(), more)).body.code).to.equal('unknown_parameter')
      expect((await accept(token)).body.user).to.include({ role: 'member', email: 'cy@example.com' })
    })

    it('again to replace a lost password, with the same role and account; the old password and sessions end', async () => {
      const other = { email: 'Bob@example.com', role: 'admin', account_id: fixture.account }
      const refused = await fixture.admin.post('/invitations', other)
      expect(outcome(refused)).to.deep.equal([409, 'conflict'])
      expect(refused.body.message).to.include(`with the role member in the account ${fixture.account}`)
      const token = tokenOf((await invite('Bob@example.com')).link)
      const bob = fixture.newClient()
      const { body } = await accept(token, bob, { name: 'Bob', password: 'another battery staple' })
      expect(body.user).to.include({ id: fixture.memberId, role: 'member' })
      expect((await fixture.member.get('/session')).status).to.equal(401)
      for (const [password, status] of [
        [PASSWORD, 401],
        ['another battery staple', 201],
      ] as const)
        expect((await fixture.newClient().post('/session', { email: 'bob@example.com', password })).status).to.equal(status)
      const { body: trail } = await fixture.admin.get(`/audit?actor=${fixture.memberId}&action=password&limit=1`)
      expect(trail.data).to.have.length(1)
    })

    it('neither while they are disabled, nor into an unknown account', async () => {
      await fixture.admin.patch(`/users/${fixture.memberId}`, { disabled: true })
      const again = { email: 'Bob@example.com', role: 'member', account_id: fixture.account }
      expect(outcome(await fixture.admin.post('/invitations', again))).to.deep.equal([409, 'conflict'])
      const nowhere = { email: 'cy@example.com', role: 'member', account_id: 'acc_none' }
      expect((await fixture.admin.post('/invitations', nowhere)).body).to.include({ code: 'invalid_value', param: 'account_id' })
      expect(outcome(await fixture.admin.delete('/invitations/inv_none'))).to.deep.equal([404, 'not_found'])
    })
  })

  describe('are managed', () => {
    it('by an admin, who lists them page by page', async () => {
      const { body } = await fixture.admin.get('/users?limit=1')
      expect(body.data![0]).to.deep.include({
        id: fixture.memberId,
        email: 'bob@example.com',
        name: 'Bob',
        role: 'member',
        account: { id: fixture.account, name: 'Acme' },
        disabled: false,
      })
      expect(body.next_cursor).to.be.a('string')
      const { body: rest } = await fixture.admin.get(`/users?limit=1&cursor=${body.next_cursor}`)
      expect(rest.data!.map(({ email }) => email)).to.deep.equal(['ada@example.com'])
      expect(rest.next_cursor).to.equal(null)
    })

    it('but the last admin cannot be disabled or made a member', async () => {
      for (const change of [{ role: 'member' }, { disabled: true }]) {
        const refused = await fixture.program.patch(`/users/${fixture.adminId}`, change)
        expect(outcome(refused)).to.deep.equal([409, 'conflict'])
        expect(refused.body.message).to.include('last admin')
      }
      await fixture.admin.patch(`/users/${fixture.memberId}`, { role: 'admin' })
      const both = [fixture.adminId, fixture.memberId].map((id) => fixture.program.patch(`/users/${id}`, { disabled: true }))
      expect((await Promise.all(both)).map(({ status }) => status).sort()).to.deep.equal([200, 409])
    })

    it('by an admin who is told how many of their keys go on working when they are disabled, and can revoke those', async () => {
      const { body: made } = await fixture.member.post('/keys', { name: unique('laptop'), kind: 'test' })
      const { body: others } = await fixture.admin.post('/keys', {
        name: unique('other'),
        kind: 'test',
        account_id: fixture.account,
      })
      const status = async ({ id }: Record<string, unknown>) => (await fixture.admin.get(`/keys/${id}`)).body.status
      const wrong = await fixture.admin.patch(`/users/${fixture.memberId}`, { revoke_keys: true })
      expect(wrong.body).to.include({ code: 'invalid_value', param: 'revoke_keys' })
      const disabled = await fixture.admin.patch(`/users/${fixture.memberId}`, { disabled: true })
      const { body: list } = await fixture.admin.get('/users')
      expect(list.data!.find(({ id }) => id === fixture.memberId)).to.include({ active_keys: disabled.body.active_keys })
      expect(disabled.body.active_keys).to.be.at.least(1)
      expect(await status(made)).to.equal('active')
      const revoked = await fixture.admin.patch(`/users/${fixture.memberId}`, { disabled: true, revoke_keys: true })
      expect(revoked.body.active_keys).to.equal(0)
      expect([await status(made), await status(others)]).to.deep.equal(['revoked', 'active'])
      const { body: trail } = await fixture.admin.get('/audit?action=key.revoke&limit=1')
      expect(trail.data![0]).to.deep.include({ actor: { id: fixture.adminId, name: 'Ada' } })
    })

    it('only in the fields that an admin may set', async () => {
      for (const [name, value] of Object.entries({
        email: 'x@example.com',
        password: 'x',
        account_id: 'default',
        identity: 'x',
        id: 'x',
      }))
        expect((await fixture.admin.patch(`/users/${fixture.memberId}`, { [name]: value })).body).to.include({
          code: 'unknown_parameter',
        })
    })

    it('only if they exist', async () => {
      expect(outcome(await fixture.admin.patch('/users/usr_none', { name: 'x' }))).to.deep.equal([404, 'not_found'])
      expect(outcome(await fixture.admin.post('/users/usr_none/end-sessions'))).to.deep.equal([404, 'not_found'])
    })
  })

  describe('have accounts', () => {
    it('that admins create and change; members see their own', async () => {
      const name = unique('Research')
      const { body: made } = await fixture.admin.post('/accounts', { name, models: ['openai/*'], rate_class: 'batch' })
      expect(made).to.deep.include({ name, models: ['openai/*'], rate_class: 'batch', keys: 0, users: 0 })
      const { body: edited } = await fixture.admin.patch(`/accounts/${made.id}`, { models: ['*'], rate_class: null })
      expect(edited).to.deep.equal({ ...made, models: ['*'], rate_class: null })
      expect((await fixture.admin.get(`/accounts/${made.id}`)).body).to.deep.equal(edited)
      expect((await fixture.admin.get('/accounts')).body.data!.map(({ id }) => id)).to.have.members([
        'default',
        fixture.account,
        made.id,
      ])
      const { body: own } = await fixture.member.get('/accounts')
      expect(own.data!.map(({ id, users }) => [id, users])).to.deep.equal([[fixture.account, 1]])
      expect((await fixture.member.get(`/accounts/${fixture.account}`)).body).to.include({ name: 'Acme' })
      expect(outcome(await fixture.member.get(`/accounts/${made.id}`))).to.deep.equal([404, 'not_found'])
      const { body: trail } = await fixture.admin.get('/audit?action=account.&limit=1')
      expect(trail.data![0]!.changes).to.deep.equal({ models: [['openai/*'], ['*']], rate_class: ['batch', null] })
    })

    it('whose names and models are validated like those of keys', async () => {
      for (const [wrong, param] of [
        [{ name: '' }, 'name'],
        [{ models: [] }, 'models'],
        [{ models: ['gpt-4o'] }, 'models'],
        [{ rate_class: '\n' }, 'rate_class'],
      ] as const) {
        expect((await fixture.admin.post('/accounts', { name: 'x', models: ['*'], ...wrong })).body).to.include({ param })
        expect((await fixture.admin.patch(`/accounts/${fixture.account}`, wrong)).body).to.include({ param })
      }
    })
  })

  it('can filter the audit trail by action, actor and time', async () => {
    mock.timers.enable({ apis: ['Date'], now: Date.now() + DAY })
    const later = new Date().toISOString()
    await fixture.program.post(`/users/${fixture.memberId}/end-sessions`)
    const found = async (query: string) => (await fixture.program.get(`/audit?${query}`)).body.data!.map(({ action }) => action)
    expect(await found(`from=${later}`)).to.deep.equal(['session.end-all'])
    expect(await found(`from=${later}&actor=TERRAFORM`)).to.deep.equal(['session.end-all'])
    expect(await found(`actor=${fixture.memberId}`)).to.deep.equal(['invitation.accept', 'user.create'])
    expect(await found('action=user.create&actor=Ada')).to.deep.equal(['user.create'])
    expect(await found(`to=${later}&action=end-all`)).to.deep.equal([])
    expect((await fixture.program.get('/audit?from=yesterday')).status).to.equal(400)
  })
})
