import type { Principal } from '../sdk/api.ts'
import type { MoneyBudget } from '../text/budgets.ts'
import type { Counter } from './counter.ts'
import { type Window, windowName } from './window.ts'

/** Whose budget it is. The keys that replace each other by rotation are one: its id is that of the first. */
export interface BudgetOwner {
  readonly kind: 'account' | 'key'
  readonly id: string
}

/** The window of a budget. */
type CalendarWindow = Window & { readonly kind: 'calendar' }

/** The counter of a budget, in nano-dollars. */
export interface BudgetCounter extends Counter {
  readonly owner: BudgetOwner
  readonly window: CalendarWindow
}

/** Makes the counter of a budget. Its id has no amount: what was spent is kept when the amount changes. */
export function budgetCounter(owner: BudgetOwner, { nanoUsd, per }: MoneyBudget, timeZone: string): BudgetCounter {
  const window: CalendarWindow = { kind: 'calendar', unit: per, timeZone }
  return { id: idOf(owner, window), limit: nanoUsd, window, owner }
}

/** The counters of all budgets of a caller: its account's, and its key's. */
export function budgetCounters({ budgets, account, keyId, firstKeyId }: Principal, timeZone: string): readonly BudgetCounter[] {
  const counters = (owner: BudgetOwner, of: readonly MoneyBudget[] = []) =>
    of.map((budget) => budgetCounter(owner, budget, timeZone))
  return [
    ...counters({ kind: 'account', id: account }, budgets?.account),
    ...counters({ kind: 'key', id: firstKeyId ?? keyId }, budgets?.key),
  ]
}

const PREFIX = 'budget/'

const idOf = ({ kind, id }: BudgetOwner, window: CalendarWindow): string => `${PREFIX}${kind}/${id}/${windowName(window)}`

/** The counter of a budget that a process has asked for; undefined for a counter of anything else. */
export function asBudgetCounter({ id, limit, window }: Counter): BudgetCounter | undefined {
  if (!id.startsWith(PREFIX) || window?.kind !== 'calendar') return undefined
  const kind = id.startsWith(`${PREFIX}account/`) ? 'account' : 'key'
  const ownerId = id.slice(`${PREFIX}${kind}/`.length, -`/${windowName(window)}`.length)
  return { id, limit, window, owner: { kind, id: ownerId } }
}
