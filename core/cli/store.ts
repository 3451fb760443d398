import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { GatewayError } from '../errors.ts'
import { databaseUrl, openStore, type Store, sqliteFileOf } from '../store/database.ts'
import { StoreError } from '../store/unavailable.ts'
import type { CommandIo } from './output.ts'

/** The options of every command that uses the store. */
export interface StoreOptions {
  /** The data folder. */
  readonly data: string
  /** The URL of the database; the one in the data folder if absent. */
  readonly database?: string
  readonly json?: boolean
}

/** The options of a command for one object. */
export interface ObjectOptions extends StoreOptions {
  readonly id: string
}

/**
 * Opens the store for a command; gateways may run on it at the same time. Resolves to the exit code. Errors of the caller and of the
 * store are printed on stderr; `listCommand` is the command that an error for an unknown id refers to. An embedded database that is not
 * there is such an error: the folder is probably the wrong one.
 */
export async function withStore(
  options: StoreOptions,
  io: CommandIo,
  run: (store: Store) => Promise<void>,
  listCommand = 'list',
): Promise<0 | 1> {
  const missing = missingFileOf(databaseUrl(options))
  if (missing === undefined) return runOn(options, io, run, listCommand)
  io.stderr.write(`There is no database at ${missing}. ${OTHERS}\n`)
  return 1
}

/** The same for a command that creates an object: it makes a database that is not there, and says so. */
export async function withStoreMade(options: StoreOptions, io: CommandIo, run: (store: Store) => Promise<void>): Promise<0 | 1> {
  const missing = missingFileOf(databaseUrl(options))
  const code = await runOn(options, io, run, 'list')
  if (missing !== undefined && code === 0)
    io.stderr.write(`A new database was made, which no gateway has used: ${missing}. ${OTHERS}\n`)
  return code
}

/** The same options, with an empty database in memory in place of an embedded one that is not there: for what may be asked without any. */
export const orEmpty = (options: StoreOptions): StoreOptions =>
  missingFileOf(databaseUrl(options)) === undefined ? options : { ...options, database: 'sqlite::memory:' }

const OTHERS = 'If a gateway runs with another one, name its folder with --data, or its database with --database.'

async function runOn(
  options: StoreOptions,
  io: CommandIo,
  run: (store: Store) => Promise<void>,
  listCommand: string,
): Promise<0 | 1> {
  try {
    const store = await openStore(databaseUrl(options), { threads: false })
    await run(store).finally(() => store.close())
    return 0
  } catch (error) {
    if (!(error instanceof GatewayError || error instanceof StoreError)) throw error
    const isUnknown = error instanceof GatewayError && error.row === 'object_not_found'
    io.stderr.write(`${error.message}${isUnknown ? ` The command \`${listCommand}\` shows them all.` : ''}\n`)
    return 1
  }
}

/** The file of an embedded database that is not there; undefined if it is, or for another database. */
function missingFileOf(url: string): string | undefined {
  const file = sqliteFileOf(url)
  return file === undefined || file === ':memory:' || existsSync(file) ? undefined : resolve(file)
}

/** Warns that a rate class was not checked, because it is declared in routes.yaml and the command reads only the store. */
export function warnUncheckedClass(rateClass: string | undefined, { stderr }: CommandIo): void {
  if (rateClass === undefined) return
  const reason = 'this command does not read routes.yaml'
  stderr.write(`The rate class "${rateClass}" was not checked: ${reason}. routes.yaml must declare it, else calls are refused.\n`)
}

/** The budgets that the option --budget sets; the word "none" means no budgets. Undefined without the option. */
export function budgetsOf(option: readonly string[] | undefined): readonly string[] | undefined {
  return option?.join() === 'none' ? [] : option
}
