/** Result codes of SQLite that blame its surroundings (https://www.sqlite.org/rescode.html): busy, locked, I/O error, full, cannot open. */
const SQLITE_OUTAGES: readonly unknown[] = [5, 6, 10, 13, 14]

/** SQLSTATE classes that blame the server or the way there: connection, resources, operator intervention, system error. */
const POSTGRES_OUTAGE = /^(?:08|53|57|58)/

/**
 * Whether an error of the store means that the database cannot be asked right now, and not that it was asked something wrong: who
 * tries again later may succeed.
 */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { code = '', errcode } = error as Error & { readonly code?: string; readonly errcode?: number }
  if (errcode !== undefined) return SQLITE_OUTAGES.includes(errcode & 0xff)
  // The deadline of a query in a thread.
  if (error.name === 'AbortError') return true
  return POSTGRES_OUTAGE.test(code) || WITHOUT_CONNECTION.test(`${code} ${error.message}`)
}

/** Of the network, and of `pg` and `pg-pool`, which give theirs no code. */
const WITHOUT_CONNECTION =
  /^(?:E[A-Z]{4,}|EAI_AGAIN) |Connection terminated|Connection ended|connection timeout|Query read timeout|not queryable|timeout exceeded/i

/** The store cannot be opened. The message tells the operator what to do. */
export class StoreError extends Error {
  override readonly name = 'StoreError'
}
