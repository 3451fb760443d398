import { expect } from 'chai'
import { createAccount } from '../../../core/accounts/accounts.ts'
import { GATEWAY, listAudit, viewAudit } from '../../../core/accounts/audit.ts'
import { createKey } from '../../../core/keys/keys.ts'
import { onEachDatabase } from '../../support/databases.ts'
import { type BudgetGateway, type PricedUpstream, pricedUpstream, startBudgetGateway } from './fixture.ts'
import { SECRET, type WebhookReceiver, webhookReceiver } from './webhook-receiver.ts'

describe('alerts of budgets', () => {
  onEachDatabase('with several gateways on one database', (database) => {
    let priced: PricedUpstream
    let receiver: WebhookReceiver
    let url: string
    let gateways: BudgetGateway[] = []

    const start = async (): Promise<BudgetGateway> => {
      const webhooks = [{ url: receiver.url, secret: `\${env:SECRET}` }]
      const routes = priced.routes({ budgets: { alerts: [50, 80, 100], webhooks } })
      const started = await startBudgetGateway({ database: url, env: { SECRET }, routes })
      gateways.push(started)
      return started
    }

    beforeEach(async () => {
      priced = await pricedUpstream()
      receiver = await webhookReceiver()
      url = await database()
      gateways = []
    })

    afterEach(async () => {
      await Promise.all(gateways.map(({ gateway }) => gateway.stop()))
      await receiver?.close()
      await priced?.close()
    })

    const thresholds = (): unknown[] => receiver.received.map(({ body }) => body.data.threshold_percent).sort()

    it('are sent once to each webhook, signed, and are in the audit trail, the log and the metrics', async () => {
      const [one, two] = [await start(), await start()]
      const { store } = one.gateway
      const account = { name: 'Research', models: ['*'], rateClass: null, budgets: ['1 USD/month'] }
      const { id } = await createAccount(store, account, GATEWAY)
      const { secret } = await createKey(store, { name: 'ci', kind: 'live', account: id })
      expect(await one.statuses(secret, 2)).to.deep.equal([200, 200])
      await receiver.until(1)
      const { body, isSigned } = receiver.received[0]!
      expect(isSigned).to.equal(true)
      expect(body.type).to.equal('budget.threshold_reached')
      const { began_at, renews_at, ...data } = body.data
      expect(data).to.deep.equal({
        scope: 'account',
        id,
        name: 'Research',
        budget: '1 USD/month',
        threshold_percent: 50,
        limit_usd: '1.00',
        spent_usd: '0.50',
      })
      expect([began_at, renews_at].every((time) => /^\d{4}-\d\d-01T00:00:00\.000Z$/.test(String(time)))).to.equal(true)
      const { data: lines } = await listAudit(store, { action: 'budget.alert' })
      expect(lines.map(viewAudit)).to.have.length(1)
      expect(viewAudit(lines[0]!)).to.deep.include({ object: { type: 'account', id, name: 'Research' } })
      expect(viewAudit(lines[0]!).changes).to.deep.include({ threshold_percent: [null, 50], spent_usd: [null, '0.50'] })
      const isTold = ({ msg }: Record<string, unknown>): boolean => msg === 'budget threshold reached'
      expect(await one.gateway.logged(isTold)).to.have.nested.property('budget.threshold_percent', 50)
      const labels = { scope: 'account', id, window: 'month' }
      expect(await one.gateway.metric('umg_budget_limit_usd', labels)).to.equal(1)
      expect(await one.gateway.metric('umg_budget_spent_usd', labels)).to.equal(0.5)
      // The other gateway spends the rest, and the first one is started again.
      for (let served = 0; served < 2; ) served += (await two.statuses(secret, 1))[0] === 200 ? 1 : 0
      await receiver.until(3)
      await gateways.shift()!.gateway.stop()
      const three = await start()
      expect(await three.statuses(secret, 1)).to.deep.equal([429])
      const renewed = await createKey(three.gateway.store, { name: 'next', kind: 'live', budgets: ['0.50 USD/day'] })
      expect(await three.statuses(renewed.secret, 2)).to.deep.equal([200, 200])
      await receiver.until(6)
      expect(thresholds()).to.deep.equal([100, 100, 50, 50, 80, 80])
    })

    it('tell that a budget is spent when a call is refused, although some of it is left', async () => {
      const one = await start()
      const { secret } = await createKey(one.gateway.store, { name: 'ci', kind: 'live', budgets: ['1.10 USD/day'] })
      expect(await one.statuses(secret, 5)).to.deep.equal([200, 200, 200, 200, 429])
      await receiver.until(3)
      expect(thresholds()).to.deep.equal([100, 50, 80])
    })

    it('are not sent for a call that is larger than the whole budget', async () => {
      const one = await start()
      const { secret } = await createKey(one.gateway.store, { name: 'ci', kind: 'live', budgets: ['0.20 USD/day'] })
      const { secret: other } = await createKey(one.gateway.store, { name: 'other', kind: 'live', budgets: ['0.25 USD/day'] })
      expect(await one.statuses(secret, 1)).to.deep.equal([429])
      expect(await one.statuses(other, 1)).to.deep.equal([200])
      await receiver.until(3)
      expect(receiver.received.map(({ body }) => body.data.name)).to.deep.equal(['other', 'other', 'other'])
    })
  })
})
