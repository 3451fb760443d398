import type { Store } from '../store/database.ts'
import { allCalls, type CallFilter, type CallView, viewCalls } from './calls.ts'
import { labelsOf } from './names.ts'
import { TOTALS_SHOWN, type TotalsView, viewTotals } from './rollup.ts'
import type { SpendReport } from './spend.ts'
import { allTotals, groupName, type UsageQuery } from './usage-report.ts'

const COLUMNS: Readonly<Record<string, (call: CallView) => Cell>> = {
  id: ({ id }) => id,
  at: ({ at }) => at,
  account_id: ({ account }) => account?.id,
  account: ({ account }) => account?.name,
  key_id: ({ key }) => key?.id,
  key: ({ key }) => key?.name,
  endpoint: ({ endpoint }) => endpoint,
  model: ({ model }) => model,
  alias: ({ alias }) => alias,
  served_namespace: ({ served }) => served?.namespace,
  served_model: ({ served }) => served?.model,
  served_provider: ({ served }) => served?.provider,
  served_credential: ({ served }) => served?.credential,
  attempts: ({ attempts }) => attempts.length,
  links: ({ links }) => JSON.stringify(links),
  stream: ({ stream }) => stream,
  status: ({ status }) => status,
  outcome: ({ outcome }) => outcome,
  fault: ({ fault }) => fault,
  error: ({ error }) => error?.row,
  error_code: ({ error }) => error?.code,
  total_ms: ({ ms }) => ms.total,
  first_byte_ms: ({ ms }) => ms.first_byte,
  overhead_ms: ({ ms }) => ms.overhead,
  input_tokens: ({ tokens }) => tokens?.input,
  output_tokens: ({ tokens }) => tokens?.output,
  cached_tokens: ({ tokens }) => tokens?.cached,
  reasoning_tokens: ({ tokens }) => tokens?.reasoning,
  estimated: ({ tokens }) => tokens?.estimated,
  cost_usd: ({ cost }) => cost?.usd,
  saved_usd: ({ cost }) => cost?.saved_usd,
  price: ({ cost }) => cost?.price,
  tags: ({ tags }) => JSON.stringify(tags),
  trace_id: ({ trace_id }) => trace_id,
}

/** Calls as CSV with a header line, newest first, page by page. */
export async function* callsAsCsv(store: Store, filter: CallFilter): AsyncGenerator<string> {
  const cells = Object.values(COLUMNS)
  yield csvLine(Object.keys(COLUMNS))
  for await (const page of allCalls(store, filter)) {
    const calls = await viewCalls(store, page)
    yield calls.map((call) => csvLine(cells.map((cell) => cell(call)))).join('')
  }
}

/** Calls as JSON Lines, newest first, page by page. */
export async function* callsAsJsonLines(store: Store, filter: CallFilter): AsyncGenerator<string> {
  for await (const page of allCalls(store, filter)) {
    const calls = await viewCalls(store, page)
    yield calls.map((call) => `${JSON.stringify(call)}\n`).join('')
  }
}

/** The totals of one name in one hour or day. */
interface UsageLine extends TotalsView {
  readonly t: string
  readonly name: string
  readonly label: string
}

/** Usage as CSV with a header line: a line for each name in each hour or day that has calls. Throws `invalid_value`. */
export async function* usageAsCsv(store: Store, query: UsageQuery): AsyncGenerator<string> {
  const columns = ['t', 'name', 'label', ...TOTALS_SHOWN] as const
  yield csvLine(columns)
  for await (const lines of usageLines(store, query))
    yield lines.map((line) => csvLine(columns.map((column) => line[column]))).join('')
}

/** Usage as JSON Lines. Throws `invalid_value`. */
export async function* usageAsJsonLines(store: Store, query: UsageQuery): AsyncGenerator<string> {
  for await (const lines of usageLines(store, query)) yield lines.map((line) => `${JSON.stringify(line)}\n`).join('')
}

async function* usageLines(store: Store, query: UsageQuery): AsyncGenerator<readonly UsageLine[]> {
  for await (const page of allTotals(store, query)) {
    const labels = await labelsOf(
      store,
      query.group,
      page.map((row) => groupName(query, row)),
    )
    yield page.map(({ at, scope, name: own, ...totals }) => {
      const name = groupName(query, { scope, name: own })
      return { t: new Date(at).toISOString(), name, label: labels.get(name) ?? name, ...viewTotals(totals) }
    })
  }
}

/** Spend as CSV with a header line. */
export function* spendAsCsv({ rows }: SpendReport): Generator<string> {
  const columns = ['name', 'label', ...TOTALS_SHOWN] as const
  yield csvLine(columns)
  for (const { name, label, totals } of rows) {
    const line = { name, label, ...viewTotals(totals) }
    yield csvLine(columns.map((column) => line[column]))
  }
}

/** Spend as JSON Lines. */
export function* spendAsJsonLines({ rows }: SpendReport): Generator<string> {
  for (const { name, label, totals } of rows) yield `${JSON.stringify({ name, label, ...viewTotals(totals) })}\n`
}

/** A cell of CSV; empty for null and undefined. */
type Cell = string | number | boolean | null | undefined

/** Spreadsheets take a text that begins so for a formula (https://owasp.org/www-community/attacks/CSV_Injection). */
const FORMULA = /^[=+\-@\t\r\n]/

/** A text with one of these is quoted. */
const QUOTED = ['"', ',', '\r', '\n']

/** A line of CSV (RFC 4180). An apostrophe before a text that begins like a formula makes spreadsheets treat it as text. */
export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(cellText).join(',')}\r\n`
}

function cellText(cell: Cell): string {
  if (typeof cell !== 'string') return String(cell ?? '')
  const text = FORMULA.test(cell) ? `'${cell}` : cell
  return QUOTED.some((character) => text.includes(character)) ? `"${text.replaceAll('"', '""')}"` : text
}
