import { EventEmitter } from 'node:events'
import { join } from 'node:path'
import type { Backend } from './backend.ts'
import { openSqlite } from './sqlite.ts'
import { StoreError } from './unavailable.ts'

/** The database: accounts, users, keys, calls, usage and the audit trail. */
export interface Store extends Backend {
  /**
   * `keys`: this process changed what keys or accounts may do, that of this id if not a new one. The code that writes such a change emits
   * it: `changed` reports it later.
   */
  readonly events: EventEmitter<{ keys: [id: string | undefined] }>
}

/** How a store is opened. */
interface StoreOptions {
  /** False: SQLite runs in this thread, and blocks it. For a command, which serves no calls, and ends sooner without threads. */
  readonly threads?: boolean
  /**
   * True: a PostgreSQL server that cannot be reached is tried again, and until then each query fails. For a process that replaces one, and
   * serves what needs no database meanwhile.
   */
  readonly later?: boolean
}

/**
 * Opens `sqlite:<path>` (relative to the working directory), `sqlite::memory:` or `postgres://…` and migrates its tables. A damaged
 * file is refused, never replaced. Throws `StoreError`; its message says what to do, and holds no password.
 */
export async function openStore(url: string, { threads = true, later = false }: StoreOptions = {}): Promise<Store> {
  return { ...(await open(url, { threads, later })), events: new EventEmitter() }
}

async function open(url: string, { threads, later }: Required<StoreOptions>): Promise<Backend> {
  const file = sqliteFileOf(url)
  if (file !== undefined) return openSqlite(file, { threads })
  if (/^postgres(?:ql)?:\/\/./.test(url)) {
    // Imported here: most gateways need no PostgreSQL driver.
    const { openPostgres } = await import('./postgres.ts')
    return openPostgres(url, { later })
  }
  throw new StoreError(
    'The database URL must be `sqlite:<path of a file>`, `sqlite::memory:` or `postgres://<user>:<password>@<host>:<port>/<database>`.',
  )
}

/** The path of `sqlite:<path>`, or `:memory:`; undefined for the URL of another database. */
export function sqliteFileOf(url: string): string | undefined {
  // Two slashes are refused: programs differ in what a third one means.
  return /^sqlite:(?!\/\/)(.+)$/s.exec(url)?.[1]
}

/** The database URL: `--database`, by default the file `gateway.db` in the data folder. */
export function databaseUrl(options: { readonly data: string; readonly database?: string }): string {
  return options.database ?? `sqlite:${join(options.data, 'gateway.db')}`
}
