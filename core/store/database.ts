import { EventEmitter } from 'node:events'
import type { Backend } from './backend.ts'
import { openSqlite } from './sqlite.ts'
import { StoreError } from './store-error.ts'

/** The database: accounts, people, keys, and what was done with them. */
export interface Store extends Backend {
  /** `keys`: this process changed what keys or accounts may do. Whoever writes such a change emits it: `changed` may not see it. */
  readonly events: EventEmitter<{ keys: [] }>
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
