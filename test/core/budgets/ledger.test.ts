import { expect } from 'chai'
import { GATEWAY } from '../../../core/accounts/audit.ts'
import { spentOf } from '../../../core/budgets/ledger.ts'
import { createKey, rotateKey } from '../../../core/keys/keys.ts'
import { asBudgetCounter, budgetCounter } from '../../../core/limits/budget-counters.ts'
import { boundsOf } from '../../../core/limits/window.ts'
import { openStore, type Store } from '../../../core/store/database.ts'
import { parseBudget } from '../../../core/text/budgets.ts'
import { createCallWriter } from '../../../core/usage/call-writer.ts'
import { onEachDatabase } from '../../support/databases.ts'
import { type CallFields, callRowOf } from '../usage/outcome.ts'

onEachDatabase('what was spent of a budget', (create) => {
  let store: Store
  let number = 0

  beforeEach(async () => {
    store = await openStore(await create())
  })

  afterEach(() => store?.close())

  const write = (...calls: readonly (CallFields & { readonly nanoUsd: number })[]): Promise<number> =>
    createCallWriter(store).write(
      calls.map(({ nanoUsd, ...call }) => callRowOf({ number: number++, ...call, outcome: { cost: { nanoUsd, price: 'x' } } })),
    )

  for (const timeZone of ['UTC', 'America/New_York', 'Asia/Kathmandu'])
    it(`is the cost of all calls since its day, week or month began in ${timeZone}`, async () => {
      const counters = (['day', 'week', 'month'] as const).map((per) =>
        budgetCounter({ kind: 'account', id: 'acc_a', account: 'acc_a' }, parseBudget(`1 USD/${per}`), timeZone),
      )
      const now = Date.now()
      const starts = counters.map(({ window }) => boundsOf(window, now).start)
      const calls = [...new Set(starts)].flatMap((start, index) => [
        { at: start - 1, nanoUsd: 100 ** (2 * index) },
        { at: start, nanoUsd: 100 ** (2 * index + 1) },
      ])
      await write(...calls.map((call) => ({ ...call, account: 'acc_a', key: 'key_a' })), {
        at: now,
        account: 'acc_b',
        key: 'key_b',
        nanoUsd: 7,
      })
      const spent = await spentOf(store, counters)
      for (const [index, counter] of counters.entries()) {
        const since = calls.filter(({ at }) => at >= starts[index]!)
        expect(spent.get(counter), counter.id).to.equal(since.reduce((sum, { nanoUsd }) => sum + nanoUsd, 0))
      }
    })

  it('of a key of routes.yaml is what it has cost in its account', async () => {
    const at = Date.now()
    const costs = { default: 1, research: 20 }
    await write(...Object.entries(costs).map(([account, nanoUsd]) => ({ at, account, key: 'routes:a/b', nanoUsd })))
    const counters = Object.keys(costs).map((account) =>
      budgetCounter({ kind: 'key', id: 'routes:a/b', account }, parseBudget('1 USD/month'), 'UTC'),
    )
    const spent = await spentOf(store, counters)
    expect(counters.map((counter) => spent.get(counter))).to.deep.equal([1, 20])
    for (const counter of counters) expect(asBudgetCounter({ ...counter })).to.deep.equal(counter)
  })

  it('of a key includes that of the keys that it replaces, and of none of their account', async () => {
    const first = await createKey(store, { name: 'ci', kind: 'live' })
    const second = await rotateKey(store, { id: first.key.id, overlap: 0 }, GATEWAY)
    const third = await rotateKey(store, { id: second.key.id, overlap: 0 }, GATEWAY)
    const other = await createKey(store, { name: 'other', kind: 'live' })
    const at = Date.now()
    const keys = [first, second, third, other].map(({ key }) => key.id)
    await write(...keys.map((key, index) => ({ at, account: 'default', key, nanoUsd: 10 ** index })), {
      at,
      account: 'default',
      key: 'routes:nightly',
      nanoUsd: 50_000,
    })
    const counterOf = (id: string) => budgetCounter({ kind: 'key', id, account: 'default' }, parseBudget('1 USD/month'), 'UTC')
    const counters = [first.key.id, other.key.id, 'routes:nightly', 'key_unused'].map((id) => counterOf(id))
    const spent = await spentOf(store, counters)
    expect(counters.map((counter) => spent.get(counter))).to.deep.equal([111, 1000, 50_000, 0])
  })
})
