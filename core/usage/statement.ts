import { GatewayError } from '../errors.ts'
import type { Store } from '../store/database.ts'
import { formatCents, toCents } from '../text/money.ts'
import { type Named, named, namesOf } from './names.ts'
import type { Totals } from './rollup.ts'
import { reportSpend, type SpendGroup, type SpendRow } from './spend.ts'

/** What an account, or all accounts, spent in a month. Amounts are in cents, and the lines add up to the total. */
export interface Statement {
  /** `2026-10`, in UTC. */
  readonly month: string
  /** Whether the month is over: no call is added any more. */
  readonly final: boolean
  /** Null for all accounts. */
  readonly account: Named | null
  readonly currency: 'USD'
  /** By model; for all accounts, by account. */
  readonly lines: readonly StatementLine[]
  /** By the price that was applied: its source and version. These add up to the same total. */
  readonly prices: readonly StatementLine[]
  readonly requests: number
  /** Requests whose cost is unknown: they are not in the total. */
  readonly unpriced: number
  /** Two decimals; null if no cost is known. */
  readonly total_usd: string | null
}

/** A line of a statement. */
export interface StatementLine {
  readonly name: string
  readonly label: string
  readonly requests: number
  readonly unpriced: number
  readonly input_tokens: number
  readonly output_tokens: number
  /** Two decimals; null if no cost of the line is known. */
  readonly amount_usd: string | null
}

/** A month, as text. */
export const MONTH = /^(20\d\d)-(0[1-9]|1[0-2])$/

/** Makes the statement of a month. Throws `invalid_value` for what is no month. */
export async function monthlyStatement(store: Store, month: string, account: string | undefined): Promise<Statement> {
  const [, year, number] = MONTH.exec(month) ?? []
  if (year === undefined)
    throw new GatewayError('invalid_value', { param: 'month', values: { detail: 'it must look like 2026-10' } })
  const range = { from: Date.UTC(Number(year), Number(number) - 1), to: Date.UTC(Number(year), Number(number)) }
  const spendBy = (group: SpendGroup) => reportSpend(store, { ...range, group, account })
  const { rows, totals } = await spendBy(account === undefined ? 'account' : 'model')
  const prices = await spendBy('price')
  const names = await namesOf(store, 'accounts', [account ?? null])
  return {
    month,
    final: range.to <= Date.now(),
    account: named(account ?? null, names),
    currency: 'USD',
    lines: linesOf(rows),
    prices: linesOf(prices.rows).filter(({ name }) => name !== ''),
    requests: totals.requests,
    unpriced: unpricedOf(totals),
    total_usd: amountOf(toCents(rows.map((row) => row.totals.cost)).total, totals),
  }
}

/** Without the calls that used no tokens, such as refused ones. */
function linesOf(rows: readonly SpendRow[]): readonly StatementLine[] {
  const { parts } = toCents(rows.map(({ totals }) => totals.cost))
  return rows
    .map(({ name, label, totals }, index) => {
      const { requests, input_tokens, output_tokens } = totals
      const amount_usd = amountOf(parts[index]!, totals)
      return { name, label, requests, unpriced: unpricedOf(totals), input_tokens, output_tokens, amount_usd }
    })
    .filter(({ input_tokens, output_tokens, unpriced }) => input_tokens + output_tokens + unpriced > 0)
}

/** Null if no cost is known. */
const amountOf = (cents: number, totals: Totals): string | null =>
  totals.cost === 0 && unpricedOf(totals) > 0 ? null : formatCents(cents)

const unpricedOf = ({ requests, priced }: Totals): number => Math.max(requests - priced, 0)
