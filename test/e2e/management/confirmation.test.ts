import { expect } from 'chai'
import { OPERATIONS } from '../../../core/control/operations.ts'
import { onEachDatabase } from '../../support/databases.ts'
import type { ApiReply } from './api-client.ts'
import { type Fixture, PASSWORD, startFixture, unique } from './fixture.ts'

const MINUTE = 60_000

const outcome = ({ status, body }: ApiReply) => [status, body.code]
const REFUSED = [403, 'confirmation_required']

describe('the operations of admins', () => {
  it('ask for the password again where they give rights', () => {
    const named = (isConfirmed: boolean) =>
      OPERATIONS.filter(
        ({ method, access, confirmed = false }) => method !== 'GET' && access === 'admin' && confirmed === isConfirmed,
      )
        .map(({ method, path }) => `${method} ${path}`)
        .sort()
    expect(named(true)).to.deep.equal(['PATCH /accounts/{id}', 'PATCH /users/{id}', 'POST /accounts', 'POST /invitations'])
    // They only take rights away.
    expect(named(false)).to.deep.equal(['DELETE /invitations/{id}', 'POST /users/{id}/end-sessions'])
  })
})

onEachDatabase('a session whose password was entered more than 15 minutes ago', (database) => {
  let fixture: Fixture
  before(async () => {
    fixture = await startFixture(await database())
  })
  beforeEach(async () => {
    await fixture.restore()
    await age(16 * MINUTE)
  })
  after(() => fixture?.stop())

  /** All sessions become so many milliseconds older; they have been in use. */
  async function age(ms: number): Promise<void> {
    const at = Date.now() - ms
    await fixture.gateway.store.db.updateTable('sessions').set({ created_at: at, confirmed_at: at }).execute()
  }

  const invite = () => fixture.admin.post('/invitations', { email: 'cy@example.com', role: 'admin', account_id: 'default' })
  const createAdminKey = () => fixture.admin.post('/keys', { name: unique('key'), kind: 'admin' })

  it('makes no change that gives rights', async () => {
    const { admin, account, memberId } = fixture
    const { body: key } = await fixture.program.post('/keys', { name: 'terraform 2', kind: 'admin' })
    const replies = [
      await invite(),
      await admin.patch(`/users/${memberId}`, { role: 'admin' }),
      await admin.patch(`/users/${memberId}`, { disabled: true }),
      await admin.post('/accounts', { name: unique('account'), models: ['*'] }),
      await admin.patch(`/accounts/${account}`, { models: ['*'] }),
      await createAdminKey(),
      await admin.patch(`/keys/${key.id}`, { expires_at: null }),
      await admin.post(`/keys/${key.id}/rotate`, { overlap_seconds: 0 }),
    ]
    expect(replies.map(outcome)).to.deep.equal(replies.map(() => REFUSED))
  })

  it('reads, and takes rights away, and does what members may', async () => {
    const { admin, program, memberId } = fixture
    const { body: key } = await program.post('/keys', { name: 'terraform 3', kind: 'admin' })
    const { body: invitation } = await program.post('/invitations', {
      email: 'cy@example.com',
      role: 'admin',
      account_id: 'default',
    })
    const replies = [
      await admin.get('/users'),
      await admin.get('/audit.csv'),
      await admin.post(`/users/${memberId}/end-sessions`),
      await admin.delete(`/invitations/${invitation.id}`),
      await admin.post(`/keys/${key.id}/revoke`),
      await admin.post('/keys', { name: unique('key'), kind: 'live' }),
    ]
    expect(replies.map(({ status }) => status)).to.deep.equal([200, 200, 204, 204, 200, 201])
  })

  it('makes them after the password was entered again, for 15 minutes', async () => {
    const { status, body } = await fixture.admin.post('/session/confirm', { password: PASSWORD })
    expect(status).to.equal(200)
    expect(Date.parse(String(body.confirmed_until)) - Date.now()).to.be.within(14 * MINUTE, 15 * MINUTE)
    expect((await createAdminKey()).status).to.equal(201)
    await age(14 * MINUTE)
    expect((await createAdminKey()).status).to.equal(201)
    await age(15 * MINUTE)
    expect(outcome(await createAdminKey())).to.deep.equal(REFUSED)
  })

  it('is replaced when the password was entered again: the cookie before opens nothing', async () => {
    const { admin, gateway, newClient } = fixture
    const thief = newClient()
    thief.cookies.set('umg_session', admin.cookies.get('umg_session')!)
    expect((await thief.get('/session')).status).to.equal(200)
    await admin.post('/session/confirm', { password: PASSWORD })
    expect((await thief.get('/session')).status).to.equal(401)
    const sessions = gateway.store.db.selectFrom('sessions').where('user_id', '=', fixture.adminId)
    expect(await sessions.select('digest').execute()).to.have.lengthOf(1)
  })

  it('stays as it is after a wrong password, which counts as any other, and both are in the audit trail', async () => {
    const { admin, program } = fixture
    const refused = await admin.post('/session/confirm', { password: 'not the password' })
    expect([...outcome(refused), refused.body.param]).to.deep.equal([403, 'wrong_password', 'password'])
    expect(outcome(await createAdminKey())).to.deep.equal(REFUSED)
    await admin.post('/session/confirm', { password: PASSWORD })
    const { body } = await program.get('/audit?limit=2')
    expect(body.data!.map(({ action, actor }) => [action, (actor as { name: string }).name])).to.deep.equal([
      ['session.confirm', 'Ada'],
      ['password.refuse', 'Ada'],
    ])
    let last = await admin.post('/session/confirm', { password: 'not the password' })
    for (let count = 0; count < 5; count++) last = await admin.post('/session/confirm', { password: 'not the password' })
    expect(outcome(last)).to.deep.equal([429, 'too_many_sign_in_attempts'])
  })

  it('that a gateway of an earlier version began counts from its beginning', async () => {
    const { db } = fixture.gateway.store
    await db.updateTable('sessions').set({ confirmed_at: null }).execute()
    expect(outcome(await createAdminKey())).to.deep.equal(REFUSED)
    await db.updateTable('sessions').set({ created_at: Date.now() }).execute()
    expect((await createAdminKey()).status).to.equal(201)
  })

  it('is no matter of admin keys, which have no password', async () => {
    const { program, account } = fixture
    expect((await program.patch(`/accounts/${account}`, { models: ['*'] })).status).to.equal(200)
    expect((await program.get('/session')).body.confirmed_until).to.equal(null)
    expect(outcome(await program.post('/session/confirm', { password: PASSWORD }))).to.deep.equal([409, 'conflict'])
  })
})
