import { expect } from 'chai'
import { MemoryStorage, StoredAuthority } from '../../../core/limits/authority.ts'
import { budgetCounter } from '../../../core/limits/budget-counters.ts'
import { Leases } from '../../../core/limits/leases.ts'
import { parseBudget } from '../../../core/text/budgets.ts'

describe('a budget per month', () => {
  const owner = { kind: 'account', id: 'acc_1', account: 'acc_1' } as const
  const counter = budgetCounter(owner, parseBudget('1 USD/month'), 'Europe/Berlin')
  const charge = { counter, amount: 250_000_000, onOutage: 'serve' } as const
  let now: number
  let leases: Leases | undefined

  beforeEach(() => {
    now = Date.parse('2026-10-31T22:59:59.000Z')
    const authority = new StoredAuthority(new MemoryStorage(() => now))
    leases = new Leases({ renew: (asked) => authority.renew('process', asked), onAsked: () => undefined, clock: () => now })
  })

  afterEach(() => leases?.close())

  const isServed = async (): Promise<boolean> => !('refused' in (await leases!.take([charge])))

  it('renews at midnight of its time zone, and not before', async () => {
    for (let call = 0; call < 4; call++) expect(await isServed()).to.equal(true)
    expect(await isServed()).to.equal(false)
    now = Date.parse('2026-10-31T22:59:59.999Z')
    expect(await isServed()).to.equal(false)
    now = Date.parse('2026-10-31T23:00:00.000Z')
    for (let call = 0; call < 4; call++) expect(await isServed()).to.equal(true)
    expect(await isServed()).to.equal(false)
  })

  it('takes nothing of the new month for a call that began in the old one', async () => {
    const taken = await leases!.take([charge])
    now = Date.parse('2026-10-31T23:00:01.000Z')
    if ('correct' in taken) taken.correct(0, 1_000_000_000)
    for (let call = 0; call < 4; call++) expect(await isServed()).to.equal(true)
  })
})
