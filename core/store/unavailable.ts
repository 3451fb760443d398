/** Result codes of SQLite for an unavailable file (https://www.sqlite.org/rescode.html): busy, locked, I/O error, full, cannot open. */
const SQLITE_UNAVAILABLE: readonly unknown[] = [5, 6, 10, 13, 14]

/** SQLSTATE classes for an unavailable server: connection, resources, operator intervention, system error. */
const POSTGRES_UNAVAILABLE = /^(?:08|53|57|58)/

/** Whether an error of the store means that the database is unavailable, not that the query is wrong: a later attempt may succeed. */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { code = '', errcode } = error as Error & { readonly code?: string; readonly errcode?: number }
  if (errcode !== undefined) return SQLITE_UNAVAILABLE.includes(errcode & 0xff)
  // A query in a thread has passed its deadline.
  if (error.name === 'AbortError') return true
  return POSTGRES_UNAVAILABLE.test(code) || WITHOUT_CONNECTION.test(`${code} ${error.message}`)
}

/** Codes of the network, and messages of `pg` and `pg-pool`, whose errors have no code. */
const WITHOUT_CONNECTION =
  /^(?:E[A-Z]{4,}|EAI_AGAIN) |Connection terminated|Connection ended|connection timeout|Query read timeout|not queryable|timeout exceeded/i

/** The store cannot be opened. The message says what the operator can do. */
export class StoreError extends Error {
  override readonly name = 'StoreError'
}
