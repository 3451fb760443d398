import type { Principal } from '../sdk/api.ts'
import type { Budget } from '../text/budgets.ts'
import type { Counter } from './counter.ts'
import { type Window, windowName } from './window.ts'

/** Whose budget it is. The keys that replace each other by rotation are one: its id is that of the first. */
export interface BudgetOwner {
  readonly kind: 'account' | 'key'
  readonly id: string
  /** The id of the account: of an account, its own. */
  readonly account: string
}

/** The window of a budget. */
type CalendarWindow = Window & { readonly kind: 'calendar' }

/** The counter of a budget, in nano-dollars. */
export interface BudgetCounter extends Counter {
  readonly owner: BudgetOwner
  readonly window: CalendarWindow
}

/** Makes the counter of a budget. Its id has no amount: what was spent is kept when the amount changes. */
export function budgetCounter(owner: BudgetOwner, { nanoUsd, per }: Budget, timeZone: string): BudgetCounter {
  const window: CalendarWindow = { kind: 'calendar', unit: per, timeZone }
  return { id: idOf(owner, window), limit: nanoUsd, window, owner }
}

interface CountersOfPrincipal {
  readonly timeZone: string
  readonly counters: readonly BudgetCounter[]
}

const made = new WeakMap<Principal, CountersOfPrincipal>()

/** The counters of all budgets of a caller: its account's, and its key's. Made once for each principal: all calls of a key share it. */
export function budgetCounters(principal: Principal, timeZone: string): readonly BudgetCounter[] {
  const known = made.get(principal)
  if (known?.timeZone === timeZone) return known.counters
  const { budgets, account, keyId, firstKeyId } = principal
  const countersOf = (owner: BudgetOwner, of: readonly Budget[] = []) =>
    of.map((budget) => budgetCounter(owner, budget, timeZone))
  const counters = [
    ...countersOf({ kind: 'account', id: account, account }, budgets?.account),
    ...countersOf({ kind: 'key', id: firstKeyId ?? keyId, account }, budgets?.key),
  ]
  made.set(principal, { timeZone, counters })
  return counters
}

const PREFIX = 'budget/'

const idOf = (owner: BudgetOwner, window: CalendarWindow): string => `${PREFIX}${ownerName(owner)}/${windowName(window)}`

/** A name that no other owner has. Ids of accounts have no slash; names of keys in routes.yaml may have one. */
export const ownerName = ({ kind, id, account }: BudgetOwner): string =>
  kind === 'account' ? `account/${id}` : `key/${account}/${id}`

function ownerOf(name: string): BudgetOwner {
  const [kind, account = '', ...id] = name.split('/')
  return kind === 'account' ? { kind, id: account, account } : { kind: 'key', id: id.join('/'), account }
}

/** The counter of a budget that a process has asked for; undefined for a counter of anything else. */
export function asBudgetCounter({ id, limit, window }: Counter): BudgetCounter | undefined {
  if (!id.startsWith(PREFIX) || window?.kind !== 'calendar') return undefined
  return { id, limit, window, owner: ownerOf(id.slice(PREFIX.length, -`/${windowName(window)}`.length)) }
}
