import type { Config } from '../config/config.ts'
import { ConfigError } from '../config/diagnostic.ts'
import type { RetryCause } from '../config/retry-causes.ts'
import { declaredHolder, findHolderById, type Holder } from '../keys/holder.ts'
import { didYouMean } from '../suggest.ts'
import { type Explanation, explainCalls } from './explanation/explanation.ts'
import { printExplanation } from './explanation/print.ts'
import type { CommandIo } from './io.ts'
import { tryOut } from './try-out.ts'
import { printConfigError } from './validate.ts'
import { type StoreOptions, withStore } from './with-store.ts'

/** What `umg explain` takes. */
export interface ExplainOptions extends Omit<StoreOptions, 'json'> {
  /** Path of routes.yaml. */
  readonly routes: string
  /** `key_…`, or the name of a key that the table declares. */
  readonly key?: string
  /** Which namespaces, or models of them, are supposed to fail, and how. */
  readonly failing?: ReadonlyMap<string, RetryCause>
  readonly format: 'pretty' | 'json'
}

/** What keeps a question from being answered, in words for the person who asked. */
class NoAnswer extends Error {}

/**
 * `umg explain MODEL`: what becomes of calls that name a model, each step with its line in the table. No upstream is asked. Resolves to
 * the exit code: 0 where they are served, 1 where they are refused, 2 where it cannot be told.
 */
export async function explain(asked: string, options: ExplainOptions, io: CommandIo): Promise<0 | 1 | 2> {
  try {
    const explanation = await answer(asked, options, io)
    if (options.format === 'json') io.stdout.write(`${JSON.stringify(explanation, null, 2)}\n`)
    else printExplanation(explanation, io.stdout)
    return explanation.model === undefined ? 1 : 0
  } catch (error) {
    if (error instanceof ConfigError) printConfigError(error, options.routes, io)
    else if (error instanceof NoAnswer) io.stderr.write(`${error.message}\n`)
    else throw error
    return 2
  }
}

function answer(asked: string, options: ExplainOptions, io: CommandIo): Promise<Explanation> {
  const { routes, key, failing = new Map<string, RetryCause>() } = options
  return tryOut(routes, io.env, async (table) => {
    const { namespaces } = table.config
    for (const name of failing.keys()) {
      const [namespace = ''] = name.split('/', 1)
      if (!namespaces.has(namespace))
        throw new NoAnswer(`--failing: there is no upstream "${namespace}"${didYouMean(namespace, [...namespaces.keys()])}`)
    }
    const holder = key === undefined ? undefined : await findKey(key, table.config, { options, io })
    if ((holder?.expiresAt ?? Number.POSITIVE_INFINITY) <= Date.now())
      io.stderr.write('note: the key has expired: its calls are refused\n')
    return explainCalls(routes, asked, table, { ...(holder && { principal: holder.principal }), failing })
  })
}

interface Asking {
  readonly options: ExplainOptions
  readonly io: CommandIo
}

async function findKey(id: string, { keys }: Config, { options, io }: Asking): Promise<Holder> {
  const declared = keys.find(({ name }) => name === id || `routes:${name}` === id)
  if (declared !== undefined) return declaredHolder(declared, declared.kind)
  let found: Holder | undefined
  const code = await withStore(options, io, async (store) => {
    found = await findHolderById(store, id)
  })
  if (found !== undefined) return found
  throw new NoAnswer(
    code === 0 ? 'there is no such key, or it is revoked; umg keys list shows the ids' : 'the keys could not be read',
  )
}
