import { formatUsd, NANO_USD } from './money.ts'

/** The units of the calendar that budgets are for. */
export const BUDGET_UNITS = ['day', 'week', 'month'] as const

/** An amount of money that may be spent in each day, week or month of the calendar. */
export interface Budget {
  /** In billionths of a US dollar: more than 0. */
  readonly nanoUsd: number
  readonly per: (typeof BUDGET_UNITS)[number]
}

/** The pattern of a budget: `500 USD/month`, `0.50 USD/day`. */
export const BUDGET = `^(?!0+(?:\\.0+)? )(\\d{1,6}(?:\\.\\d{1,2})?) USD/(${BUDGET_UNITS.join('|')})$`

/** Budgets, for errors and docs. */
export const BUDGET_EXAMPLES = ['20 USD/day', '500 USD/month']

const SHAPE = new RegExp(BUDGET)

/** Reads a budget. Throws a RangeError that says what a budget looks like. */
export function parseBudget(text: string): Budget {
  const [, amount, per] = SHAPE.exec(text) ?? []
  if (amount === undefined)
    throw new RangeError(
      `${JSON.stringify(text)} is not a budget: write US dollars per day, week or month, such as ${BUDGET_EXAMPLES.join(' or ')}`,
    )
  const [dollars, cents = ''] = amount.split('.')
  return {
    nanoUsd: Number(dollars) * NANO_USD + Number(cents.padEnd(2, '0')) * (NANO_USD / 100),
    per: per as Budget['per'],
  }
}

/** Reads budgets. Throws a RangeError, also for two budgets of the same unit: the larger one would have no effect. */
export function parseBudgets(texts: readonly string[]): readonly Budget[] {
  const budgets = texts.map(parseBudget)
  const twice = BUDGET_UNITS.find((unit) => budgets.filter(({ per }) => per === unit).length > 1)
  if (twice !== undefined) throw new RangeError(`there are two budgets per ${twice}; keep one of them`)
  return budgets
}

/** The text of a budget: `500 USD/month`. */
export function formatBudget({ nanoUsd, per }: Budget): string {
  return `${formatUsd(nanoUsd).replace(/\.00$/, '')} USD/${per}`
}

/** Whether the first budgets allow no more than the others in any unit: each of the others is still there, and none is larger. */
export function areNoHigher(budgets: readonly Budget[], than: readonly Budget[]): boolean {
  return than.every(({ per, nanoUsd }) => budgets.some((budget) => budget.per === per && budget.nanoUsd <= nanoUsd))
}
