import { BoundedMap } from '../async/bounded-map.ts'
import type { BudgetCounter } from './budget-counters.ts'

/** Of what is left of an account's budget, the calls under way of one key may hold this part, if other keys use the account too. */
const SHARE = 1 / 2
/** They may hold this part of the whole budget in any case, so that its end can be spent. */
const LEAST = 1 / 4
/** The most accounts, and the most keys of each, that are remembered. */
const [MAX_ACCOUNTS, MAX_KEYS] = [10_000, 100]

/** More than the share of its key. */
export interface BeyondShare {
  readonly counter: BudgetCounter
  /** What the calls under way of the key may hold together. */
  readonly share: number
}

/**
 * What the calls under way of each key of this process hold of the budgets of their accounts. Reservations are for the worst that a call can
 * cost: without shares, one slow call of a key could hold an account's budget from all other keys until it ends, at no cost.
 */
export class KeyShares {
  /** By counters, and by keys that have called. */
  readonly #held = new BoundedMap<string, BoundedMap<string, number>>(MAX_ACCOUNTS)

  /** Holds an amount of each budget of an account among the counters, for a call. `leftOf`: what is left. Returns the function that ends it. */
  hold(
    counters: readonly BudgetCounter[],
    key: string,
    amount: number,
    leftOf: (counter: BudgetCounter) => number,
  ): (() => void) | BeyondShare {
    const accounts = counters.filter(({ owner }) => owner.kind === 'account')
    for (const counter of accounts) {
      const keys = this.#keysOf(counter)
      const held = keys.get(key) ?? 0
      keys.set(key, held)
      if (keys.size === 1) continue
      const share = Math.max(counter.limit * LEAST, (leftOf(counter) + held) * SHARE)
      if (held + amount > share) return { counter, share }
    }
    const add = (change: number): void => {
      for (const counter of accounts) {
        const keys = this.#keysOf(counter)
        keys.set(key, Math.max(0, (keys.get(key) ?? 0) + change))
      }
    }
    add(amount)
    return () => add(-amount)
  }

  #keysOf({ id }: BudgetCounter): BoundedMap<string, number> {
    let keys = this.#held.get(id)
    if (keys === undefined) {
      keys = new BoundedMap(MAX_KEYS)
      this.#held.set(id, keys)
    }
    return keys
  }
}
