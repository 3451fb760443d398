import { expect } from 'chai'
import { createKey } from '../../../core/keys/keys.ts'
import { onEachDatabase } from '../../support/databases.ts'
import { type Fixture, startFixture } from './fixture.ts'

const DAY = 86_400_000

onEachDatabase('an account whose keys may live 30 days', (database) => {
  let fixture: Fixture
  /** Keys from before the limit: one without an expiry, one of a year. */
  let endless: string
  let long: string
  before(async () => {
    fixture = await startFixture(await database())
    const { store } = fixture.gateway
    const makeKey = async (name: string, expires: number | null): Promise<string> =>
      (await createKey(store, { name, kind: 'live', account: fixture.account, expires })).key.id
    endless = await makeKey('endless', null)
    long = await makeKey('long', Date.now() + 365 * DAY)
    await limit(fixture.account, 30)
  })
  after(() => fixture?.stop())

  const limit = async (account: string, days: number | null): Promise<void> =>
    void expect(await fixture.admin.patch(`/accounts/${account}`, { max_key_days: days })).to.include({ status: 200 })
  const inDays = (days: number): string => new Date(Date.now() + days * DAY).toISOString()
  const create = (fields: object = {}) => fixture.member.post('/keys', { name: 'laptop', kind: 'live', ...fields })
  /** Days from its creation to its end. */
  const lifeOf = ({ created_at, expires_at }: Readonly<Record<string, unknown>>): number =>
    (Date.parse(String(expires_at)) - Date.parse(String(created_at))) / DAY

  it('gives a key without an expiry the longest life', async () => {
    const { status, body } = await create()
    expect(status).to.equal(201)
    expect(lifeOf(body)).to.equal(30)
  })

  it('refuses an expiry beyond it, and "never", also of admins', async () => {
    for (const expires_at of [inDays(31), null]) {
      const own = { expires_at, account_id: fixture.account, name: 'ci', kind: 'live' }
      for (const { status, body } of [await create({ expires_at }), await fixture.program.post('/keys', own)]) {
        expect([status, body.code, body.param]).to.deep.equal([400, 'invalid_value', 'expires_at'])
        expect(body.message).to.match(/keys of this account live 30 days at most.* give \d{4}-\d\d-\d\dT.*Z or earlier/)
      }
    }
    expect(await create({ expires_at: inDays(29) })).to.include({ status: 201 })
  })

  it('refuses to prolong a key beyond it, counted from its creation', async () => {
    const { body: key } = await create({ expires_at: inDays(7) })
    await fixture.gateway.store.db
      .updateTable('keys')
      .set({ created_at: Date.now() - 10 * DAY })
      .where('id', '=', String(key.id))
      .execute()
    const edit = (expires_at: string | null) => fixture.member.patch(`/keys/${key.id}`, { expires_at })
    expect(await edit(inDays(19))).to.include({ status: 200 })
    for (const expires_at of [inDays(21), null]) {
      const { status, body } = await edit(expires_at)
      expect([status, body.param]).to.deep.equal([400, 'expires_at'])
    }
  })

  it('lets a key from before keep its expiry, or end within as long as a new key may live', async () => {
    for (const id of [endless, long]) {
      const { body: key } = await fixture.member.get(`/keys/${id}`)
      await fixture.gateway.store.db
        .updateTable('keys')
        .set({ created_at: Date.now() - 90 * DAY })
        .where('id', '=', id)
        .execute()
      const edit = (fields: object) => fixture.member.patch(`/keys/${id}`, fields)
      expect(await edit({ name: 'renamed', expires_at: key.expires_at })).to.include({ status: 200 })
      expect(await edit({ expires_at: inDays(31) })).to.include({ status: 400 })
      expect(await edit({ expires_at: inDays(20) })).to.include({ status: 200 })
      expect(await edit({ expires_at: inDays(25) })).to.include({ status: 400 })
    }
  })

  it('gives the successor of a key no longer life', async () => {
    const { store } = fixture.gateway
    await limit(fixture.account, null)
    const { body: old } = await create()
    expect(old.expires_at).to.equal(null)
    await limit(fixture.account, 30)
    const rotate = (id: string) => fixture.member.post(`/keys/${id}/rotate`, { overlap_seconds: 0 })
    const { status, body: successor } = await rotate(String(old.id))
    expect(status).to.equal(201)
    expect(lifeOf(successor)).to.be.closeTo(30, 0.001)
    await store.db
      .updateTable('keys')
      .set({ expires_at: Date.parse(String(successor.created_at)) + 7 * DAY })
      .where('id', '=', String(successor.id))
      .execute()
    expect(lifeOf((await rotate(String(successor.id))).body)).to.be.closeTo(7, 0.001)
  })

  it('has the limit of the account "default" where that is shorter', async () => {
    await limit('default', 10)
    expect(lifeOf((await create()).body)).to.equal(10)
    expect((await fixture.member.get(`/accounts/${fixture.account}`)).body).to.include({ max_key_days: 30, key_days: 10 })
    await limit(fixture.account, 5)
    expect(lifeOf((await create()).body)).to.equal(5)
    await limit('default', null)
    await limit(fixture.account, null)
    expect((await create()).body.expires_at).to.equal(null)
    expect((await fixture.member.get(`/accounts/${fixture.account}`)).body).to.include({ max_key_days: null, key_days: null })
  })

  it('is set by admins alone, in whole days', async () => {
    expect(await fixture.member.patch(`/accounts/${fixture.account}`, { max_key_days: 3 })).to.include({ status: 403 })
    for (const max_key_days of [0, 1.5, 1e9])
      expect(await fixture.admin.patch(`/accounts/${fixture.account}`, { max_key_days })).to.include({ status: 400 })
  })
})
