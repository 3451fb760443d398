import { expect } from 'chai'
import { RetryBudget } from '../../../core/routing/protection.ts'

/** How many retries a budget grants at one moment. */
function granted(budget: RetryBudget, now: number): number {
  let retries = 0
  for (; budget.allows(now); budget.spend(now)) retries++
  return retries
}

describe('the retry budget of an upstream', () => {
  it('allows a few retries at the start', () => {
    expect(granted(new RetryBudget(), 0)).to.equal(3)
  })

  it('allows one retry for five calls if every call fails', () => {
    const budget = new RetryBudget()
    let retries = 0
    for (let call = 0; call < 6000; call++) {
      budget.earn()
      if (!budget.allows(call * 5)) continue
      budget.spend(call * 5)
      retries++
    }
    expect(retries).to.be.within(600, 1200)
  })

  it('allows a retry from time to time for an upstream with few calls', () => {
    const budget = new RetryBudget()
    granted(budget, 0)
    expect([granted(budget, 4000), granted(budget, 10_000)]).to.deep.equal([0, 2])
  })

  it('keeps at most ten retries', () => {
    const budget = new RetryBudget()
    for (let call = 0; call < 1000; call++) budget.earn()
    expect(granted(budget, 3_600_000)).to.equal(10)
  })
})
