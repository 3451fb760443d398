import { EventEmitter } from 'node:events'
import { join } from 'node:path'
import type { Compilable, Kysely } from 'kysely'
import type { Schema } from './schema.ts'
import { openSqlite } from './sqlite.ts'
import { StoreError } from './unavailable.ts'

/** The database: accounts, users, keys, calls, usage and the audit trail. */
export interface Store extends Backend {
  /** `keys`: this process changed what keys or accounts may do. The code that writes such a change emits it: `changed` may miss it. */
  readonly events: EventEmitter<{ keys: [] }>
}

/**
 * Opens `sqlite:<path>` (relative to the working directory), `sqlite::memory:` or `postgres://…` and migrates its tables. A damaged
 * file is refused, never replaced. Throws `StoreError`; its message says what to do, and holds no password.
 */
export async function openStore(url: string): Promise<Store> {
  return { ...(await open(url)), events: new EventEmitter() }
}

async function open(url: string): Promise<Backend> {
  // Two slashes are refused: programs differ in what a third one means.
  const file = /^sqlite:(?!\/\/)(.+)$/s.exec(url)?.[1]
  if (file !== undefined) return openSqlite(file)
  if (/^postgres(?:ql)?:\/\/./.test(url)) {
    // Imported here: most gateways need no PostgreSQL driver.
    const { openPostgres } = await import('./postgres.ts')
    return openPostgres(url)
  }
  throw new StoreError(
    'The database URL must be `sqlite:<path of a file>`, `sqlite::memory:` or `postgres://<user>:<password>@<host>:<port>/<database>`.',
  )
}

/** An open database with migrated tables: what SQLite and PostgreSQL implement differently. */
export interface Backend {
  /** For queries that an index answers, and for all writes: on SQLite it runs in this thread and blocks the event loop. */
  readonly db: Kysely<Schema>
  /**
   * For a query that may scan many rows: `store.read(store.db.selectFrom('audit')…)`. It never blocks the event loop: SQLite runs it
   * in a worker thread. It sees what was committed before it. Throws what the database throws, or at its deadline of 30 s.
   */
  read<Row>(query: Compilable<Row>): Promise<readonly Row[]>
  /**
   * Whether another connection, of this process or another, may have changed what keys and accounts may do since the last call of
   * `changed`. Cheap. Throws while that cannot be known.
   */
  changed(): boolean
  /** Path of SQLite's file, for a writer with a thread of its own; undefined in memory and on PostgreSQL. */
  readonly file?: string | undefined
  close(): Promise<void>
}

/** The database URL: `--database`, by default the file `gateway.db` in the data folder. */
export function databaseUrl(options: { readonly data: string; readonly database?: string }): string {
  return options.database ?? `sqlite:${join(options.data, 'gateway.db')}`
}
