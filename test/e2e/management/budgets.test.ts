import { expect } from 'chai'
import { onEachDatabase } from '../../support/databases.ts'
import { type Fixture, startFixture, unique } from './fixture.ts'

describe('budgets at the management API', () => {
  onEachDatabase('of accounts and keys', (database) => {
    let fixture: Fixture

    before(async () => {
      fixture = await startFixture(await database())
    })

    after(() => fixture?.stop())

    const key = { name: 'ci', kind: 'live', models: ['*'] }

    it('are set, shown with what is left, changed and removed by admins', async () => {
      const { admin, program } = fixture
      const account = { name: unique('Research'), models: ['*'], budgets: ['500.00 USD/month', '20 USD/day'] }
      const { body: made } = await admin.post('/accounts', account)
      expect(made.budgets).to.deep.equal(['500 USD/month', '20 USD/day'])
      const [month, day] = made.spending as Record<string, unknown>[]
      expect(month).to.include({ budget: '500 USD/month', limit_usd: '500.00', spent_usd: '0.00', left_usd: '500.00' })
      expect(String(month!.renews_at)).to.match(/-01T00:00:00\.000Z$/)
      expect(day).to.include({ budget: '20 USD/day', left_usd: '20.00' })
      const { body: edited } = await program.patch(`/accounts/${made.id}`, { budgets: [] })
      expect(edited).to.deep.include({ budgets: [], spending: [] })
      expect((await admin.get('/audit?action=account.edit')).body.data![0]!.changes).to.deep.equal({
        budgets: [['500 USD/month', '20 USD/day'], []],
      })
    })

    it('must have the form of a budget', async () => {
      for (const budgets of [['20 USD/hour'], ['0 USD/day'], ['1 USD/day', '2 USD/day'], ['1.005 USD/day']])
        for (const send of [
          () => fixture.admin.post('/keys', { ...key, budgets }),
          () => fixture.admin.post('/accounts', { name: 'Any', models: ['*'], budgets }),
          () => fixture.admin.patch(`/accounts/${fixture.account}`, { budgets }),
        ]) {
          const { status, body } = await send()
          expect([status, body.code, body.param]).to.deep.equal([400, 'invalid_value', 'budgets'])
        }
    })

    it('can be lowered by a member, and neither raised nor removed', async () => {
      const { admin, member, account } = fixture
      const { body: made } = await admin.post('/keys', { ...key, account_id: account, budgets: ['20 USD/day'] })
      const path = `/keys/${made.id}`
      for (const budgets of [['21 USD/day'], [], ['20 USD/week']]) {
        const { status, body } = await member.patch(path, { budgets })
        expect([status, body.code]).to.deep.equal([403, 'admin_required'])
      }
      expect((await member.patch(path, { name: 'renamed' })).body.budgets).to.deep.equal(['20 USD/day'])
      const lower = ['10 USD/day', '50 USD/month']
      expect((await member.patch(path, { budgets: lower })).body.budgets).to.deep.equal(lower)
      expect((await member.get(`/accounts/${account}`)).body).to.have.property('spending')
      expect((await member.patch(`/accounts/${account}`, { budgets: ['1 USD/day'] })).body.code).to.equal('admin_required')
      expect((await member.post('/keys', { ...key, budgets: ['5 USD/day'] })).body.budgets).to.deep.equal(['5 USD/day'])
    })
  })
})
