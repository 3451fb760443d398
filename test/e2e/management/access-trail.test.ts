import { expect } from 'chai'
import { onEachDatabase } from '../../support/databases.ts'
import { until } from '../../support/poll.ts'
import { type Fixture, startFixture } from './fixture.ts'

onEachDatabase('the audit trail', (database) => {
  let fixture: Fixture
  beforeEach(async () => {
    fixture = await startFixture(await database())
  })
  afterEach(() => fixture?.stop())

  /** The newest lines of an action, without what differs from run to run. */
  async function linesOf(action: string): Promise<readonly object[]> {
    const { body } = await fixture.admin.get(`/audit?action=${action}`)
    return body.data!.map(({ actor, object, ip, changes }) => ({ actor, object, ip, changes }))
  }

  const line = (actor: object | null, object: string, changes: object, id: string | null = null) => ({
    actor,
    object: { type: 'api', id, name: object },
    ip: '127.0.0.1',
    changes,
  })

  it('has a member whom an operation of admins refused', async () => {
    expect((await fixture.member.get('/users')).status).to.equal(403)
    const [refused] = await linesOf('access.refuse')
    expect(refused).to.deep.include({ object: { type: 'api', id: null, name: 'GET /users' }, ip: '127.0.0.1' })
    expect(refused).to.deep.include({ changes: { refused: [null, 'admin_required'] } })
    expect(refused).to.have.nested.property('actor.id', fixture.memberId)
  })

  it("has a member who asked for another account's object", async () => {
    const { body } = await fixture.admin.get('/accounts')
    const other = body.data!.find(({ id }) => id !== fixture.account)!.id as string
    expect((await fixture.member.get(`/accounts/${other}`)).status).to.equal(404)
    expect((await fixture.member.get(`/requests?account_id=${other}`)).status).to.equal(404)
    const lines = await linesOf('access.refuse')
    expect(lines).to.have.length(2)
    expect(lines[1]).to.deep.include({ object: { type: 'api', id: other, name: 'GET /accounts/{id}' } })
    expect(lines[0]).to.deep.include({ object: { type: 'api', id: null, name: 'GET /requests' } })
  })

  it('has one line of wrong admin keys, however many come from one address, and none of a browser that is not signed in', async () => {
    const headers = { authorization: 'Bearer sk-umg-admin-wrong' }
    for (let call = 0; call < 20; call++) {
      expect((await fetch(`${fixture.gateway.url}/api/v1/keys`, { headers })).status).to.equal(401)
    }
    expect((await fixture.newClient().get('/keys')).status).to.equal(401)
    expect(await linesOf('access.refuse')).to.deep.equal([line(null, 'GET /keys', { refused: [null, 'not_signed_in'] })])
  })

  it('has who exported what, members included', async () => {
    expect((await fixture.member.get('/requests.csv?status=200')).status).to.equal(200)
    expect((await fixture.admin.get('/audit.csv')).status).to.equal(200)
    const lines = await linesOf('data.export')
    expect(lines[1]).to.deep.include({
      object: { type: 'api', id: null, name: 'GET /requests.csv' },
      changes: { status: [null, 200] },
    })
    expect(lines[1]).to.have.nested.property('actor.id', fixture.memberId)
    expect(lines[0]).to.deep.include({ object: { type: 'api', id: null, name: 'GET /audit.csv' }, changes: {} })
    expect(lines[0]).to.have.nested.property('actor.id', fixture.adminId)
  })

  it('has what admins read of others, once an hour, and not what members read of their own', async () => {
    for (let call = 0; call < 3; call++) expect((await fixture.program.get('/requests')).status).to.equal(200)
    expect((await fixture.member.get('/requests')).status).to.equal(200)
    // The replies do not wait for it.
    await until(async () => (await linesOf('data.read')).length > 0)
    const lines = await linesOf('data.read')
    expect(lines).to.have.length(1)
    expect(lines[0]).to.deep.include({ object: { type: 'api', id: null, name: 'GET /requests' } })
  })
})
