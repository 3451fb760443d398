import { expect } from 'chai'
import { GATEWAY } from '../../../core/accounts/audit.ts'
import { createKey, editKey } from '../../../core/keys/keys.ts'
import { onEachDatabase } from '../../support/databases.ts'
import { poll } from '../../support/poll.ts'
import { adminClient } from '../usage/api-client.ts'
import { type BudgetGateway, type PricedUpstream, pricedUpstream, startBudgetGateway } from './fixture.ts'

describe('a budget', () => {
  onEachDatabase('with several gateways on one database', (database) => {
    let priced: PricedUpstream
    let url: string
    let gateways: BudgetGateway[] = []

    const start = async (): Promise<BudgetGateway> => {
      const started = await startBudgetGateway({ database: url, routes: priced.routes() })
      gateways.push(started)
      return started
    }

    beforeEach(async () => {
      priced = await pricedUpstream()
      url = await database()
      gateways = []
    })

    afterEach(async () => {
      await Promise.all(gateways.map(({ gateway }) => gateway.stop()))
      await priced?.close()
    })

    /** Resolves when the rows of a key's calls say what they have cost. */
    async function untilRecorded({ gateway }: BudgetGateway, keyId: string, usd: string): Promise<void> {
      const api = await adminClient(gateway)
      const spentOf = ({ json }: { readonly json: { rows: { name: string; cost_usd: string }[] } }) =>
        json.rows.find(({ name }) => name === keyId)?.cost_usd
      await poll(
        () => api.get('/spend?group=key') as Promise<{ json: never }>,
        (reply) => spentOf(reply) === usd,
      )
    }

    it('is never spent twice', async () => {
      const [one, two] = [await start(), await start()]
      const { secret } = await createKey(one.gateway.store, { name: 'shared', kind: 'live', budgets: ['2 USD/day'] })
      const calls = Array.from({ length: 40 }, (_, call) => (call % 2 === 0 ? one : two).statuses(secret, 1))
      let served = (await Promise.all(calls)).flat().filter((status) => status === 200).length
      expect(served).to.be.at.most(8)
      // What one of them holds and does not use comes back within a moment.
      while (served < 8) served += (await two.statuses(secret, 1))[0] === 200 ? 1 : 0
      expect(await one.statuses(secret, 1)).to.deep.equal([429])
      expect(await two.statuses(secret, 1)).to.deep.equal([429])
    })

    it('is remembered when the gateway is restarted', async () => {
      const one = await start()
      const { secret } = await createKey(one.gateway.store, { name: 'ci', kind: 'live', budgets: ['1 USD/month'] })
      expect(await one.statuses(secret, 3)).to.deep.equal([200, 200, 200])
      await gateways.pop()!.gateway.stop()
      expect(await (await start()).statuses(secret, 2)).to.deep.equal([200, 429])
    })

    it('that is set in the middle of a month begins with what was spent since its first day', async () => {
      const one = await start()
      const { key, secret } = await createKey(one.gateway.store, { name: 'ci', kind: 'live' })
      expect(await one.statuses(secret, 3)).to.deep.equal([200, 200, 200])
      await untilRecorded(one, key.id, '0.75')
      await editKey(one.gateway.store, { id: key.id, budgets: ['1 USD/month'] }, GATEWAY)
      expect(await one.statuses(secret, 2)).to.deep.equal([200, 429])
    })

    it('is known from the rows of calls when its counter is lost', async () => {
      const one = await start()
      const { store } = one.gateway
      const { key, secret } = await createKey(store, { name: 'ci', kind: 'live', budgets: ['1 USD/month'] })
      expect(await one.statuses(secret, 3)).to.deep.equal([200, 200, 200])
      await untilRecorded(one, key.id, '0.75')
      await store.db.deleteFrom('quota_counters').execute()
      const two = await start()
      expect(await two.statuses(secret, 2)).to.deep.equal([200, 429])
      // The gateway that still knows what it has spent does not spend it again.
      expect(await one.statuses(secret, 1)).to.deep.equal([429])
    })

    it('is corrected by the rows of calls when its counter is an old copy', async () => {
      const one = await start()
      const { key, secret } = await createKey(one.gateway.store, { name: 'ci', kind: 'live', budgets: ['10 USD/month'] })
      expect(await one.statuses(secret, 1)).to.deep.equal([200])
      await gateways.pop()!.gateway.stop()
      const two = await start()
      const { store } = two.gateway
      const copy = await store.db.selectFrom('quota_counters').selectAll().execute()
      expect(await two.statuses(secret, 38)).to.not.include(429)
      await untilRecorded(two, key.id, '9.75')
      await gateways.pop()!.gateway.stop()
      const three = await start()
      for (const { id, state } of copy)
        await three.gateway.store.db.updateTable('quota_counters').set({ state }).where('id', '=', id).execute()
      expect(await three.statuses(secret, 1)).to.deep.equal([200])
      await poll(
        () => three.gateway.metric('umg_budget_spent_usd', { scope: 'key', id: key.id, window: 'month' }),
        (usd) => usd === 10,
      )
      // Its lease, a quarter of what was left in the copy, is the most that it may still spend.
      const statuses = await three.statuses(secret, 12)
      expect(statuses.filter((status) => status === 200).length).to.be.at.most(9)
      expect(statuses.at(-1)).to.equal(429)
    })
  })
})
