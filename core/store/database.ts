import { EventEmitter } from 'node:events'
import { join } from 'node:path'
import type { Compilable, Kysely } from 'kysely'
import type { Schema } from './schema.ts'
import { openSqlite } from './sqlite.ts'
import { StoreError } from './unavailable.ts'

/** The database: accounts, people, keys, and what was done with them. */
export interface Store extends Backend {
  /**
   * `keys`: this process changed what keys or accounts may do, that of this id if not a new one. Whoever writes such a change emits it:
   * `changed` may not see it.
   */
  readonly events: EventEmitter<{ keys: [id: string | undefined] }>
}

/**
 * Opens `sqlite:<path>` (a relative path is one of the working directory), `sqlite::memory:` or `postgres://…` and brings its tables
 * up to date. A damaged file is refused, never replaced. Throws `StoreError`, which tells what to do and no password.
 */
export async function openStore(url: string): Promise<Store> {
  return { ...(await open(url)), events: new EventEmitter() }
}

async function open(url: string): Promise<Backend> {
  // Two slashes are refused: what a third one means differs between programs.
  const file = /^sqlite:(?!\/\/)(.+)$/s.exec(url)?.[1]
  if (file !== undefined) return openSqlite(file)
  if (/^postgres(?:ql)?:\/\/./.test(url)) {
    // Only here: most gateways need no driver for it.
    const { openPostgres } = await import('./postgres.ts')
    return openPostgres(url)
  }
  throw new StoreError(
    'The database URL must be `sqlite:<path of a file>`, `sqlite::memory:` or `postgres://<user>:<password>@<host>:<port>/<database>`.',
  )
}

/** A database that is open, its tables up to date: what SQLite and PostgreSQL do each in its own way. */
export interface Backend {
  /** For what is found by an index, and for all that is written: on SQLite it runs in this thread, and everything else waits. */
  readonly db: Kysely<Schema>
  /**
   * For a query that may have to look at many rows: `store.read(store.db.selectFrom('audit')…)`. It never holds up a stream: SQLite
   * runs it in a worker thread. It sees what was committed before it. Throws what the database throws, or by its deadline of 30 s.
   */
  read<Row>(query: Compilable<Row>): Promise<readonly Row[]>
  /**
   * Whether another connection, of this process or another, may have changed what keys and accounts may do since this was last
   * asked. Cheap; throws where that cannot be known.
   */
  changed(): boolean
  /** Path of SQLite's file, for who writes so much that it wants a thread of its own. */
  readonly file?: string | undefined
  close(): Promise<void>
}

/** The database's URL: `--database`, or else the file `gateway.db` in the data folder. */
export function databaseUrl(options: { readonly data: string; readonly database?: string }): string {
  return options.database ?? `sqlite:${join(options.data, 'gateway.db')}`
}
