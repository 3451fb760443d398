import { expect } from 'chai'
import fc from 'fast-check'
import { spendCommand, statementCommand } from '../../../core/cli/calls/spend.ts'
import { openStore, type Store } from '../../../core/store/database.ts'
import { formatCents, formatUsd, toCents } from '../../../core/text/money.ts'
import { createCallWriter } from '../../../core/usage/call-writer.ts'
import { reportSpend, type SpendGroup } from '../../../core/usage/spend.ts'
import { monthlyStatement } from '../../../core/usage/statement.ts'
import { onEachDatabase } from '../../support/databases.ts'
import { runCommand } from '../../support/run-command.ts'
import { type CallFields, callRowOf } from './outcome.ts'

const OCTOBER = { from: Date.UTC(2026, 9, 1), to: Date.UTC(2026, 10, 1) }
const DAY_MS = 86_400_000
const LIST = 'genai-prices 1 openai/gpt'

const costing = (nanoUsd: number, price: string, savedNanoUsd = 0) => ({ outcome: { cost: { nanoUsd, savedNanoUsd, price } } })

/** Thirds of a cent by two models and two accounts, one call of unknown cost, one refused call, and one of another month. */
const CALLS: readonly CallFields[] = [
  { at: OCTOBER.from, account: 'acc_a', key: 'key_a', model: 'a/one', tags: { team: 'search' }, ...costing(3_333_333, LIST) },
  { at: OCTOBER.from + DAY_MS, account: 'acc_a', key: 'key_a', model: 'a/two', ...costing(3_333_333, LIST, 1_500_000) },
  {
    at: OCTOBER.to - 1,
    account: 'acc_b',
    key: 'key_b',
    model: 'a/one',
    tags: { team: 'ads' },
    ...costing(13_333_334, 'routes.yaml', 4_000_000),
  },
  { at: OCTOBER.from, account: 'acc_b', key: 'key_b', model: 'a/own' },
  { at: OCTOBER.from, account: 'acc_b', key: 'key_b', model: 'a/one', error: 'upstream_timeout', outcome: { usage: undefined } },
  { at: OCTOBER.to, account: 'acc_a', key: 'key_a', model: 'a/one', ...costing(1, LIST) },
]

onEachDatabase('spend', (create) => {
  let database: string
  let store: Store

  before(async () => {
    database = await create()
    store = await openStore(database)
    await createCallWriter(store).write(CALLS.map((call, number) => callRowOf({ number, ...call })))
  })

  after(() => store?.close())

  async function spendBy(group: SpendGroup, account?: string) {
    const { rows, totals } = await reportSpend(store, { ...OCTOBER, group, account })
    const all = { name: 'total', totals }
    return [...rows, all].map(({ name, totals: { cost, requests, priced } }) => [name, formatUsd(cost), requests - priced])
  }

  it('is by model, the dearest first', async () => {
    expect(await spendBy('model')).to.deep.equal([
      ['a/one', '0.016666667', 0],
      ['a/two', '0.003333333', 0],
      ['a/own', '0.00', 1],
      ['total', '0.02', 1],
    ])
  })

  it('is by account, key, tag, price and day', async () => {
    expect(await spendBy('account')).to.deep.equal([
      ['acc_b', '0.013333334', 1],
      ['acc_a', '0.006666666', 0],
      ['total', '0.02', 1],
    ])
    expect((await spendBy('key')).map(([name]) => name)).to.deep.equal(['key_b', 'key_a', 'total'])
    expect(await spendBy('tag:team')).to.deep.equal([
      ['ads', '0.013333334', 0],
      ['search', '0.003333333', 0],
      ['', '0.003333333', 1],
      ['total', '0.02', 1],
    ])
    expect(await spendBy('price')).to.deep.equal([
      ['routes.yaml', '0.013333334', 0],
      [LIST, '0.006666666', 0],
      ['', '0.00', 1],
      ['total', '0.02', 1],
    ])
    expect(await spendBy('day')).to.deep.equal([
      ['2026-10-01', '0.003333333', 1],
      ['2026-10-02', '0.003333333', 0],
      ['2026-10-31', '0.013333334', 0],
      ['total', '0.02', 1],
    ])
  })

  it('is limited to one account', async () => {
    expect(await spendBy('model', 'acc_a')).to.deep.equal([
      ['a/one', '0.003333333', 0],
      ['a/two', '0.003333333', 0],
      ['total', '0.006666666', 0],
    ])
    expect(await spendBy('price', 'acc_nobody')).to.deep.equal([['total', '0.00', 0]])
  })

  it('has a statement for each month, whose lines and prices add up to its total', async () => {
    const { lines, prices, ...statement } = await monthlyStatement(store, '2026-10', undefined)
    expect(statement).to.deep.equal({
      month: '2026-10',
      final: Date.now() >= OCTOBER.to,
      account: null,
      currency: 'USD',
      requests: 5,
      unpriced: 1,
      total_usd: '0.02',
    })
    expect(lines.map(({ name, amount_usd, unpriced }) => [name, amount_usd, unpriced])).to.deep.equal([
      ['acc_b', '0.01', 1],
      ['acc_a', '0.01', 0],
    ])
    expect(prices.map(({ name, amount_usd, requests }) => [name, amount_usd, requests])).to.deep.equal([
      ['routes.yaml', '0.01', 1],
      [LIST, '0.01', 2],
    ])
  })

  it('has a statement of one account by model, where an unknown amount is not 0', async () => {
    const { account, lines, total_usd } = await monthlyStatement(store, '2026-10', 'acc_b')
    expect({ account, total_usd }).to.deep.equal({ account: { id: 'acc_b', name: 'acc_b' }, total_usd: '0.01' })
    expect(lines.map(({ name, amount_usd }) => [name, amount_usd])).to.deep.equal([
      ['a/one', '0.01'],
      ['a/own', null],
    ])
  })

  it('has a statement without a total if no cost is known', async () => {
    await createCallWriter(store).write([callRowOf({ at: Date.UTC(2026, 7, 1), model: 'a/own' })])
    const { total_usd, unpriced } = await monthlyStatement(store, '2026-08', undefined)
    expect({ total_usd, unpriced }).to.deep.equal({ total_usd: null, unpriced: 1 })
  })

  it('is shown by umg spend, as a table, CSV and JSON Lines', async () => {
    const spend = (options: object) =>
      runCommand((io) => spendCommand({ data: 'unused', database, ...OCTOBER, group: 'account', ...options }, io))
    const table = (await spend({})).stdout.trimEnd().split('\n')
    expect(table.map((line) => line.split(/ {2,}/)).map((cells) => [cells[0], ...cells.slice(-3)])).to.deep.equal([
      ['ACCOUNT', 'COST USD', 'SAVED USD', 'UNPRICED'],
      ['acc_b', '0.013333334', '0.004', '1'],
      ['acc_a', '0.006666666', '0.0015', '0'],
      ['TOTAL', '0.02', '0.0055', '1'],
    ])
    const csv = (await spend({ format: 'csv', group: 'model' })).stdout.split('\r\n')
    expect(csv[0]).to.match(/^name,label,requests,.*,cost_usd,saved_usd,unpriced$/)
    expect(csv[3]).to.match(/^a\/own,a\/own,1,0,10,5,0,0,,,1$/)
    const lines = (await spend({ format: 'jsonl', group: 'day' })).stdout.trimEnd().split('\n')
    expect(JSON.parse(lines[2]!)).to.include({ name: '2026-10-31', cost_usd: '0.013333334', saved_usd: '0.004' })
  })

  it('is shown by umg statement', async () => {
    const statement = (options: object) =>
      runCommand((io) => statementCommand({ data: 'unused', database, month: '2026-10', json: false, ...options }, io))
    const { stdout, code } = await statement({ account: 'acc_b' })
    expect(code).to.equal(0)
    expect(stdout).to.match(/a\/own +1 +10 +5 +unknown/)
    expect(stdout).to.match(/TOTAL +0\.01/)
    expect(stdout).to.include('Not in the total: 1 requests whose cost is unknown.')
    expect(JSON.parse((await statement({ json: true })).stdout)).to.include({ total_usd: '0.02' })
    const refused = await statement({ month: '2026-13' })
    expect(refused.code).to.equal(1)
    expect(refused.stderr).to.include('2026-10')
  })
})

describe('amounts in cents', () => {
  it('add up to the total, and differ from the exact amounts by less than a cent', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(1e12), { maxLength: 50 }), (amounts) => {
        const { total, parts } = toCents(amounts)
        const sum = amounts.reduce((all, amount) => all + amount, 0)
        expect(parts.reduce((all, cents) => all + cents, 0)).to.equal(total)
        expect(Math.abs(total * 1e7 - sum)).to.be.at.most(5e6)
        for (const [index, cents] of parts.entries()) expect(Math.abs(cents * 1e7 - amounts[index]!)).to.be.below(1e7)
      }),
    )
  })

  it('are shown with two decimals, nano-dollars with all that they have', () => {
    expect([0, 7, 1250, 100_000].map(formatCents)).to.deep.equal(['0.00', '0.07', '12.50', '1000.00'])
    expect([0, 1, 37_500, 12_500_000_000].map(formatUsd)).to.deep.equal(['0.00', '0.000000001', '0.0000375', '12.50'])
  })
})
