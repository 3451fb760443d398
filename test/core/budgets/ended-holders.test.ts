import { expect } from 'chai'
import { type Ledger, MemoryStorage, StoredAuthority } from '../../../core/limits/authority.ts'
import { budgetCounter } from '../../../core/limits/budget-counters.ts'
import type { Counter } from '../../../core/limits/counter.ts'
import { parseBudget } from '../../../core/text/budgets.ts'

const OWNER = { kind: 'account', id: 'acc_1', account: 'acc_1' } as const
const MINUTE = 60_000

describe('the lease of a killed process', () => {
  let now = Date.parse('2026-10-10T12:00:00.000Z')
  const authorityWith = (ledger: Ledger) => new StoredAuthority(new MemoryStorage(() => now), ledger)
  const ask = async (authority: StoredAuthority, holder: string, counter: Counter, told: object) => {
    const request = { counter, windowEnd: 0, spent: 0, keep: 0, need: 0, want: 0, ...told }
    return (await authority.renew(holder, [request]))[0]!
  }

  it('refuses nobody for what it had reserved and held of a budget, once the ledger knows its calls', async () => {
    const counter = budgetCounter(OWNER, parseBudget('1 USD/month'), 'UTC')
    const cents = 10_000_000
    let recorded = 0
    const authority = authorityWith(async () => recorded)
    const { windowEnd } = await ask(authority, 'killed', counter, { need: 60 * cents })
    await ask(authority, 'killed', counter, { windowEnd, spent: 50 * cents, reserved: 30 * cents, keep: 10 * cents })
    recorded = 20 * cents
    expect(await ask(authority, 'other', counter, { need: 41 * cents })).to.include({ granted: false })
    now += 2 * MINUTE
    expect(await ask(authority, 'other', counter, { need: 81 * cents })).to.include({ granted: false })
    expect(await ask(authority, 'other', counter, { need: 80 * cents })).to.include({ granted: true, remaining: 0 })
  })

  it('counts of a limit, which has no ledger, until its window ends', async () => {
    const counter = { ...budgetCounter(OWNER, parseBudget('1 USD/month'), 'UTC'), id: 'standard/key/key_1/tokens', limit: 100 }
    const authority = authorityWith(async () => null)
    const { windowEnd } = await ask(authority, 'killed', counter, { need: 60 })
    await ask(authority, 'killed', counter, { windowEnd, spent: 50, reserved: 30, keep: 10 })
    now += 2 * MINUTE
    expect(await ask(authority, 'other', counter, { need: 41 })).to.include({ granted: false, remaining: 40 })
    expect(await ask(authority, 'other', counter, { need: 40 })).to.include({ granted: true })
  })
})
