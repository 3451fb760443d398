import { Type } from 'typebox'
import { checkBudgets } from '../accounts/field-checks.ts'
import { spentOf } from '../budgets/ledger.ts'
import { GatewayError } from '../errors.ts'
import { type BudgetCounter, type BudgetOwner, budgetCounter } from '../limits/budget-counters.ts'
import { boundsOf } from '../limits/window.ts'
import { areNoHigher, BUDGET_EXAMPLES, formatBudget, parseBudgets } from '../text/budgets.ts'
import { formatUsd } from '../text/money.ts'
import type { Caller } from './caller.ts'
import { time, toTime, usd } from './fields.ts'
import type { ManagementServices } from './services.ts'

/** Budgets as they are set. */
export const budgetTexts = (description: string) => Type.Array(Type.String(), { description, examples: [BUDGET_EXAMPLES] })

/** A budget in its current window. */
const spendingSchema = Type.Object(
  {
    budget: Type.String({ examples: [BUDGET_EXAMPLES[1]!] }),
    limit_usd: usd,
    spent_usd: usd,
    left_usd: usd,
    began_at: time('When the current day, week or month began.'),
    renews_at: time('When the next one begins.'),
  },
  { title: 'Spending' },
)

/** What is left of budgets. */
export const spendingField = Type.Array(spendingSchema, { description: 'What was spent of each budget: calls that have ended.' })

/** An object with budgets. */
export interface Budgeted {
  readonly owner: BudgetOwner
  readonly budgets: readonly string[]
}

/** What was spent of the budgets of some objects, in their order. */
export async function spendingOf(objects: readonly Budgeted[], { store, live }: ManagementServices) {
  const { timeZone } = live.generation.config.budgets
  const counters = objects.map(({ owner, budgets }) =>
    parseBudgets(budgets).map((budget) => budgetCounter(owner, budget, timeZone)),
  )
  const spent = await spentOf(store, counters.flat())
  return counters.map((own) => own.map((counter) => spendingView(counter, spent.get(counter) ?? 0)))
}

function spendingView({ limit, window }: BudgetCounter, spent: number) {
  const { start, end } = boundsOf(window, Date.now())
  return {
    budget: formatBudget({ nanoUsd: limit, per: window.unit }),
    limit_usd: formatUsd(limit),
    spent_usd: formatUsd(spent),
    left_usd: formatUsd(Math.max(0, limit - spent)),
    began_at: toTime(start),
    renews_at: toTime(end),
  }
}

/** A member may lower budgets, and not raise or remove them. Throws `admin_required` or `invalid_value`. */
export function checkBudgetsOfKey(caller: Caller, requested: readonly string[] | undefined, current: readonly string[]): void {
  if (requested === undefined) return
  const budgets = parseBudgets(checkBudgets(requested))
  if (caller.role !== 'admin' && !areNoHigher(budgets, parseBudgets(current))) throw new GatewayError('admin_required')
}
