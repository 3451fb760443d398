import { GatewayError } from '../errors.ts'
import { databaseUrl, openStore, type Store } from '../store/database.ts'
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
 * store are printed on stderr; `listCommand` is the command that an error for an unknown id refers to.
 */
export async function withStore(
  options: StoreOptions,
  io: CommandIo,
  run: (store: Store) => Promise<void>,
  listCommand = 'list',
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
