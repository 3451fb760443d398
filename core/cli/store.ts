import { GatewayError } from '../errors.ts'
import { databaseUrl, openStore, type Store } from '../store/database.ts'
import { StoreError } from '../store/unavailable.ts'
import type { CommandIo } from './io.ts'

/** What every command that works on the store takes. */
export interface StoreOptions {
  /** The data folder. */
  readonly data: string
  /** The database's URL; absent: the one in the data folder. */
  readonly database?: string
  readonly json?: boolean
  /** The command that shows which ids there are; absent: `list`. */
  readonly lister?: string
}

/** Where such a command writes. */
export type StoreIo = Omit<CommandIo, 'env'>

/**
 * Runs a command on the store, beside running gateways. Resolves to the exit code; what was asked wrong, or cannot be opened, is told
 * on stderr.
 */
export async function withStore(options: StoreOptions, io: StoreIo, run: (store: Store) => Promise<void>): Promise<number> {
  try {
    const store = await openStore(databaseUrl(options))
    // Nothing else waits for this thread: SQLite needs none of its own, which would have to start first.
    const here: Store['read'] = async (query) => (await store.db.executeQuery(query)).rows
    const read = store.file === undefined ? store.read : here
    await run({ ...store, read }).finally(() => store.close())
    return 0
  } catch (error) {
    if (!(error instanceof GatewayError || error instanceof StoreError)) throw error
    const isUnknown = error instanceof GatewayError && error.row === 'object_not_found'
    const hint = isUnknown ? ` The command \`${options.lister ?? 'list'}\` shows them all.` : ''
    io.stderr.write(`${error.message}${hint}\n`)
    return 1
  }
}

/** Prints a value as one line of JSON. */
export function writeJson(io: StoreIo, value: unknown): void {
  io.stdout.write(`${JSON.stringify(value)}\n`)
}

/** Prints rows of cells in columns, the headings first. What strangers wrote into a cell steers no terminal. */
export function writeTable(io: StoreIo, rows: readonly (readonly string[])[]): void {
  const plain = rows.map((row) => row.map((cell) => cell.replace(CONTROL, ' ')))
  const widths = plain[0]!.map((_, column) => Math.max(...plain.map((row) => row[column]!.length)))
  for (const row of plain)
    io.stdout.write(
      `${row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd()}\n`,
    )
}

const CONTROL = /\p{Cc}/gu

/** A time to the second, in UTC. */
export function iso(time: number): string {
  return `${new Date(time).toISOString().slice(0, 19)}Z`
}
