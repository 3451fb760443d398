import { expect } from 'chai'
import { type BudgetCounter, budgetCounter } from '../../../core/limits/budget-counters.ts'
import { KeyShares } from '../../../core/limits/key-shares.ts'

describe('the shares of keys in the budget of their account', () => {
  const budget: BudgetCounter = budgetCounter(
    { kind: 'account', id: 'acc_1', account: 'acc_1' },
    { nanoUsd: 50, per: 'month' },
    'UTC',
  )
  let shares: KeyShares
  let left: number

  beforeEach(() => {
    shares = new KeyShares()
    left = 50
  })

  /** Holds an amount as a call does: less is left. Returns the function that ends it; undefined: it was refused. */
  function hold(key: string, amount: number): (() => void) | undefined {
    const end = shares.hold([budget], key, amount, () => left)
    if (typeof end !== 'function') return undefined
    left -= amount
    return () => {
      end()
      left += amount
    }
  }

  it('let the only key of an account hold all that is left', () => {
    expect(hold('one', 48)).to.not.equal(undefined)
  })

  it('let the calls under way of a key hold half of what is left while others use the account', () => {
    hold('two', 1)?.()
    expect(hold('one', 34)).to.equal(undefined)
    expect(hold('one', 20)).to.not.equal(undefined)
    expect(hold('one', 6)).to.equal(undefined)
    expect(hold('two', 14)).to.not.equal(undefined)
  })

  it('are free again when the calls have ended', () => {
    hold('two', 1)?.()
    hold('one', 25)?.()
    expect(hold('one', 25)).to.not.equal(undefined)
  })

  it('let the last quarter of a budget be spent', () => {
    hold('two', 1)?.()
    left = 12
    expect(hold('one', 12)).to.not.equal(undefined)
  })

  it('are not of the budget of a key', () => {
    const own = budgetCounter({ kind: 'key', id: 'one', account: 'acc_1' }, { nanoUsd: 50, per: 'month' }, 'UTC')
    for (const key of ['two', 'one']) expect(shares.hold([own], key, 48, () => 50)).to.be.a('function')
  })
})
