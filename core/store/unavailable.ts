import { CodedError, GatewayError } from '../errors.ts'

/** The errors that clients get while the database cannot be used. */
type StorageErrorName = 'storage_busy' | 'storage_full' | 'storage_damaged' | 'storage_unavailable'

/** The database cannot be opened or used. At the start of the gateway, the message says what the operator can do. */
export class StoreError extends Error {
  override readonly name = 'StoreError'
  readonly row: StorageErrorName
  /** For the log, such as SQLITE_BUSY. */
  readonly code: string | undefined

  constructor(
    message: string,
    { row = 'storage_unavailable', code, cause }: { row?: StorageErrorName; code?: string; cause?: unknown } = {},
  ) {
    super(message, { cause })
    this.row = row
    this.code = code
  }
}

/**
 * The error for clients, if what the store threw means that the database cannot be used; its message says what the operator can do.
 * Undefined if the query is wrong: a later attempt fails too.
 */
export function storageError(thrown: unknown): GatewayError | undefined {
  const row = thrown instanceof StoreError ? thrown.row : postgresErrorRow(thrown)
  return row === undefined ? undefined : new GatewayError(row, { cause: thrown })
}

/** SQLSTATEs (https://www.postgresql.org/docs/current/errcodes-appendix.html). */
const POSTGRES_FULL = '53100'
const POSTGRES_DAMAGED = /^XX00[12]$/
/** Classes: connection, resources, operator intervention, system error. */
const POSTGRES_UNAVAILABLE = /^(?:08|53|57|58)/

/** Codes of the network, and messages of `pg` and `pg-pool`, whose errors have no code. */
const WITHOUT_CONNECTION =
  /^(?:E[A-Z]{4,}|EAI_AGAIN) |Connection terminated|Connection ended|connection timeout|Query read timeout|not queryable|timeout exceeded/i

function postgresErrorRow(thrown: unknown): StorageErrorName | undefined {
  if (!(thrown instanceof Error)) return undefined
  const { code = '', message } = thrown as Error & { readonly code?: string }
  if (code === POSTGRES_FULL) return 'storage_full'
  if (POSTGRES_DAMAGED.test(code)) return 'storage_damaged'
  return POSTGRES_UNAVAILABLE.test(code) || WITHOUT_CONNECTION.test(`${code} ${message}`) ? 'storage_unavailable' : undefined
}

/** Primary result codes of SQLite (https://www.sqlite.org/rescode.html). */
const SQLITE_UNAVAILABLE: Readonly<Record<number, readonly [code: string, row: StorageErrorName]>> = {
  5: ['SQLITE_BUSY', 'storage_busy'],
  6: ['SQLITE_LOCKED', 'storage_busy'],
  8: ['SQLITE_READONLY', 'storage_unavailable'],
  10: ['SQLITE_IOERR', 'storage_unavailable'],
  11: ['SQLITE_CORRUPT', 'storage_damaged'],
  13: ['SQLITE_FULL', 'storage_full'],
  14: ['SQLITE_CANTOPEN', 'storage_unavailable'],
  26: ['SQLITE_NOTADB', 'storage_damaged'],
}

/** The error for what SQLite has thrown, in any thread: a `StoreError` if the file cannot be used. */
export function sqliteError(thrown: unknown): Error {
  const { message, errcode } = thrown as { readonly message: string; readonly errcode?: unknown }
  // The low byte is the primary result code; the others extend it.
  const [code, row] = SQLITE_UNAVAILABLE[Number(errcode ?? 0) & 0xff] ?? []
  if (row !== undefined) return new StoreError(message, { row, code })
  return new CodedError('ERR_SQLITE_ERROR', message)
}
