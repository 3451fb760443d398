import { spendAsCsv, spendAsJsonLines } from '../../usage/exports.ts'
import { reportSpend, type SpendGroup, spendRangeOf } from '../../usage/spend.ts'
import { monthlyStatement, type Statement, type StatementLine } from '../../usage/statement.ts'
import { type CommandIo, writeCells, writeChunks, writeJson } from '../output.ts'
import { type ObjectOptions, type StoreOptions, withStore } from '../store.ts'
import { writeTotals } from './totals.ts'

/** The options of `umg spend`. */
export interface SpendOptions extends StoreOptions {
  readonly group: SpendGroup
  /** Milliseconds since 1970. */
  readonly from?: number
  readonly to?: number
  readonly account?: string
  /** Absent: a table, or JSON. */
  readonly format?: 'csv' | 'jsonl'
}

/** The options of `umg statement`. */
export interface StatementOptions extends Omit<ObjectOptions, 'id'> {
  /** `2026-10` */
  readonly month: string
  readonly account?: string
}

/** `umg spend`: what was spent, by group. Resolves to the exit code. */
export async function spendCommand({ group, account, format, ...options }: SpendOptions, io: CommandIo): Promise<number> {
  return withStore(options, io, async (store) => {
    const report = await reportSpend(store, { ...spendRangeOf(options), group, account })
    if (format === 'csv') return writeChunks(spendAsCsv(report), io)
    if (format === 'jsonl') return writeChunks(spendAsJsonLines(report), io)
    writeTotals(group, report, options, io)
  })
}

/** `umg statement`: what was spent in a month, to the cent. Resolves to the exit code. */
export async function statementCommand({ month, account, json, ...options }: StatementOptions, io: CommandIo): Promise<number> {
  return withStore(options, io, async (store) => {
    const statement = await monthlyStatement(store, month, account)
    if (json) writeJson(statement, io)
    else writeStatement(statement, io)
  })
}

function writeStatement({ month, final, account, lines, prices, total_usd, unpriced }: Statement, io: CommandIo): void {
  io.stdout.write(
    `${month}${final ? '' : ', so far'}: ${account === null ? 'all accounts' : `${account.name} (${account.id})`}\n\n`,
  )
  const amounts = (heading: string, listed: readonly StatementLine[]) => [
    [heading, 'REQUESTS', 'INPUT TOKENS', 'OUTPUT TOKENS', 'USD'],
    ...listed.map((line) => [
      line.label,
      String(line.requests),
      String(line.input_tokens),
      String(line.output_tokens),
      line.amount_usd ?? 'unknown',
    ]),
  ]
  writeCells([...amounts(account === null ? 'ACCOUNT' : 'MODEL', lines), ['TOTAL', '', '', '', total_usd ?? 'unknown']], io)
  io.stdout.write('\n')
  writeCells(amounts('PRICE', prices), io)
  if (unpriced > 0) io.stdout.write(`\nNot in the total: ${unpriced} requests whose cost is unknown.\n`)
}
