import { expect } from 'chai'
import { createKey } from '../../../core/keys/keys.ts'
import { onEachDatabase } from '../../support/databases.ts'
import { type Fixture, startFixture } from './fixture.ts'

onEachDatabase('an account with as many keys as it may have', (database) => {
  let fixture: Fixture
  before(async () => {
    fixture = await startFixture(await database())
  })
  after(() => fixture?.stop())
  beforeEach(async () => {
    const { store } = fixture.gateway
    await store.db.deleteFrom('keys').where('account_id', '=', fixture.account).execute()
    expect(await fixture.admin.patch(`/accounts/${fixture.account}`, { max_keys: 3 })).to.include({ status: 200 })
  })

  const create = (fields: object = {}) => fixture.member.post('/keys', { name: 'laptop', kind: 'live', ...fields })

  it('gets no further key, neither from a member nor from an admin', async () => {
    for (let key = 0; key < 3; key++) expect(await create()).to.include({ status: 201 })
    const { status, body } = await create()
    expect([status, body.code]).to.deep.equal([409, 'conflict'])
    expect(body.message).to.match(/has 3 keys; it may have 3\. Revoke keys that are not used, or ask an admin/)
    const byAdmin = { name: 'ci', kind: 'live', account_id: fixture.account }
    expect(await fixture.admin.post('/keys', byAdmin)).to.include({ status: 409 })
    expect(await fixture.program.post('/keys', byAdmin)).to.include({ status: 409 })
  })

  it('gets one again when one is revoked, or an admin allows more', async () => {
    const { body } = await create()
    for (let key = 1; key < 3; key++) await create()
    await fixture.member.post(`/keys/${body.id}/revoke`)
    expect(await create()).to.include({ status: 201 })
    expect(await create()).to.include({ status: 409 })
    expect(await fixture.member.patch(`/accounts/${fixture.account}`, { max_keys: 4 })).to.include({ status: 403 })
    const { body: account } = await fixture.admin.patch(`/accounts/${fixture.account}`, { max_keys: 4 })
    expect(account).to.include({ max_keys: 4 })
    expect(await create()).to.include({ status: 201 })
  })

  it('can rotate its keys', async () => {
    const { body } = await create()
    for (let key = 1; key < 3; key++) await create()
    expect(await fixture.member.post(`/keys/${body.id}/rotate`, { overlap_seconds: 60 })).to.include({ status: 201 })
    expect(await create()).to.include({ status: 409 })
  })

  it('cannot prolong an expired key', async () => {
    const { store } = fixture.gateway
    const { key } = await createKey(store, { name: 'old', kind: 'live', account: fixture.account })
    await store.db.updateTable('keys').set({ expires_at: 1 }).where('id', '=', key.id).execute()
    for (let made = 0; made < 3; made++) await create()
    expect(await fixture.member.patch(`/keys/${key.id}`, { expires_at: null })).to.include({ status: 409 })
    expect(await fixture.member.patch(`/keys/${key.id}`, { name: 'older' })).to.include({ status: 200 })
  })

  it('gets no more by requests at the same time', async () => {
    const replies = await Promise.all(Array.from({ length: 12 }, () => create()))
    expect(replies.filter(({ status }) => status === 201)).to.have.lengthOf(3)
  })
})
