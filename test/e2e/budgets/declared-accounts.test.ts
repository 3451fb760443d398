import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { stringify } from 'yaml'
import { editAccount } from '../../../core/accounts/accounts.ts'
import { GATEWAY } from '../../../core/accounts/audit.ts'
import { createSecret } from '../../../core/keys/format.ts'
import { digestOf } from '../../../core/text/ids.ts'
import { onSqlite } from '../../support/databases.ts'
import { poll } from '../../support/poll.ts'
import { adminClient } from '../usage/api-client.ts'
import { type BudgetGateway, type PricedUpstream, pricedUpstream, startBudgetGateway } from './fixture.ts'

const SECRETS = { nightly: createSecret('live'), weekly: createSecret('live'), plain: createSecret('live') }

const key = (name: keyof typeof SECRETS, more: object = {}) => ({
  name,
  hash: `sha256:${digestOf(SECRETS[name])}`,
  kind: 'live',
  models: ['*'],
  ...more,
})

onSqlite('the budget of an account of routes.yaml', (create) => {
  let database: string
  let priced: PricedUpstream
  let started: BudgetGateway
  let statuses: BudgetGateway['statuses']

  beforeEach(async () => {
    priced = await pricedUpstream()
    database = await create()
    started = await startBudgetGateway({ routes: routes('1 USD/month'), database })
    ;({ statuses } = started)
  })

  afterEach(async () => {
    await started?.gateway.stop()
    await priced?.close()
  })

  const routes = (budget: unknown) =>
    priced.routes({
      accounts: { research: { budget } },
      keys: [
        key('nightly', { account: 'research' }),
        key('weekly', { account: 'research', budget: '0.50 USD/month' }),
        key('plain'),
      ],
    })

  async function reload(budget: unknown): Promise<void> {
    const { gateway } = started
    await writeFile(join(gateway.folder, 'routes.yaml'), stringify({ version: 1, ...routes(budget) }))
    expect(await gateway.reload()).to.include({ ok: true })
  }

  /** Waits until the rows of calls say what the account has spent: a new budget, and a lost counter, begin with it. */
  async function recorded(spent: string): Promise<void> {
    const api = await adminClient(started.gateway)
    type Spend = { json: { rows: { name: string; cost_usd: string }[] } }
    await poll(
      () => api.get('/spend?group=account') as Promise<Spend>,
      (reply) => reply.json.rows.some(({ name, cost_usd }) => name === 'research' && cost_usd === spent),
    )
  }

  it('is for all its keys, of the file and of the database, each of which may have one of its own', async () => {
    const stored = await started.gateway.key({ account: 'research' })
    expect(await statuses(SECRETS.weekly, 3)).to.deep.equal([200, 200, 429])
    expect(await statuses(stored, 1)).to.deep.equal([200])
    expect(await statuses(SECRETS.nightly, 2)).to.deep.equal([200, 429])
    expect(await statuses(stored, 1)).to.deep.equal([429])
    expect(await (await started.ask(stored)).text()).to.include('of the budget of your account, 1 USD/month, 0.00 USD is left')
    expect(await statuses(SECRETS.plain, 1)).to.deep.equal([200])
  })

  it('has the place of those in the database, and applies at once when the file changes', async () => {
    await editAccount(started.gateway.store, { id: 'research', budgets: ['0.25 USD/day'] }, GATEWAY)
    expect(await statuses(SECRETS.nightly, 2)).to.deep.equal([200, 200])
    await reload('0.75 USD/month')
    expect(await statuses(SECRETS.nightly, 2)).to.deep.equal([200, 429])
    await recorded('0.75')
    await reload(['1.50 USD/day', '2 USD/month'])
    expect(await statuses(SECRETS.nightly, 4)).to.deep.equal([200, 200, 200, 429])
    expect(await (await started.ask(SECRETS.nightly)).text()).to.include('1.50 USD/day')
  })

  it('is shown with what is left of it, and can only be changed in the file', async () => {
    const { gateway } = started
    const api = await adminClient(gateway)
    await statuses(SECRETS.nightly, 1)
    type Reply = { json: { spending: { budget: string; spent_usd: string; left_usd: string }[]; source: string } }
    const { json } = await poll(
      () => api.get('/accounts/research') as Promise<Reply>,
      (reply) => reply.json.spending[0]!.spent_usd === '0.25',
    )
    expect(json).to.deep.include({ budgets: ['1 USD/month'] })
    expect(json.spending[0]).to.include({ budget: '1 USD/month', left_usd: '0.75' })
    const reply = await fetch(`${gateway.url}/api/v1/accounts/research`, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${await gateway.key({ kind: 'admin' })}`, 'content-type': 'application/json' },
      body: JSON.stringify({ budgets: ['9 USD/month'] }),
    })
    expect(reply.status).to.equal(409)
    expect(await reply.text()).to.include(`This account is declared in ${json.source}: change it there.`)
  })

  it('of the account default, which the database has, is also for the keys of the file', async () => {
    await editAccount(started.gateway.store, { id: 'default', budgets: ['0.50 USD/week'] }, GATEWAY)
    expect(await statuses(SECRETS.plain, 3)).to.deep.equal([200, 200, 429])
  })

  it('and those of its keys are known from the rows of calls when their counters are lost', async () => {
    const { gateway } = started
    expect(await statuses(SECRETS.weekly, 1)).to.deep.equal([200])
    await recorded('0.25')
    await gateway.store.db.deleteFrom('quota_counters').execute()
    const second = await startBudgetGateway({ routes: routes('1 USD/month'), database })
    try {
      expect(await second.statuses(SECRETS.weekly, 2)).to.deep.equal([200, 429])
      expect(await second.statuses(SECRETS.nightly, 3)).to.deep.equal([200, 200, 429])
    } finally {
      await second.gateway.stop()
    }
  })
})
