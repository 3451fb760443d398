import type { Config } from '../../config/config.ts'
import type { AssumedCause } from '../../config/schema/retry-causes.ts'
import { declaredHolder, findAccountHolder, findHolderById, type KeyHolder, principalOf } from '../../keys/principal.ts'
import { didYouMean } from '../../text/suggestions.ts'
import { withValidGeneration } from '../generation.ts'
import { type CommandIo, writeJson } from '../output.ts'
import { orEmpty, type StoreOptions, withStore } from '../store.ts'
import { explainCalls } from './explain-calls.ts'
import { printExplanation } from './print-explanation.ts'

/** The options of `umg explain`. */
export interface ExplainOptions extends StoreOptions {
  /** The path of routes.yaml. */
  readonly routes: string
  /** `key_…`, or the name of a key in routes.yaml. */
  readonly key?: string
  /** The namespaces and models that are assumed to fail. */
  readonly failing?: ReadonlyMap<string, AssumedCause>
}

/** An option that prevents an explanation. Its message says what to change. */
class OptionError extends Error {
  override readonly name = 'OptionError'
}

/**
 * `umg explain MODEL`: prints how calls of a model are served, each step with its line in routes.yaml. Calls no upstream. Resolves to
 * the exit code: 0 if such calls are served, 1 if they are refused, 2 if routes.yaml or an option is not valid.
 */
export async function explain(model: string, options: ExplainOptions, io: CommandIo): Promise<0 | 1 | 2> {
  const { routes, key, failing = new Map<string, AssumedCause>(), json } = options
  try {
    const explanation = await withValidGeneration(routes, options, io, async (generation) => {
      checkFailing(failing, generation.config)
      const holder = key === undefined ? undefined : await findKey(key, generation.config, options, io)
      if ((holder?.expiresAt ?? Number.POSITIVE_INFINITY) <= Date.now())
        io.stderr.write('note: the key has expired: its calls are refused\n')
      return explainCalls(routes, model, generation, {
        ...(holder && { principal: principalOf(holder, generation.config.accounts) }),
        failing,
      })
    })
    if (explanation === undefined) return 2
    if (json) writeJson(explanation, io)
    else printExplanation(explanation, io.stdout)
    return explanation.model === undefined ? 1 : 0
  } catch (error) {
    if (!(error instanceof OptionError)) throw error
    io.stderr.write(`${error.message}\n`)
    return 2
  }
}

function checkFailing(failing: ReadonlyMap<string, AssumedCause>, { namespaces }: Config): void {
  for (const name of failing.keys()) {
    const [namespace = ''] = name.split('/', 1)
    if (!namespaces.has(namespace))
      throw new OptionError(`--failing: there is no upstream "${namespace}"${didYouMean(namespace, [...namespaces.keys()])}`)
  }
}

async function findKey(id: string, config: Config, options: ExplainOptions, io: CommandIo): Promise<KeyHolder> {
  const declared = config.keys.find(({ name }) => name === id || `routes:${name}` === id)
  const account = declared && config.accounts.get(declared.account)
  if (declared && account) return declaredHolder(declared, declared.kind, account)
  let found: KeyHolder | undefined
  const code = await withStore(orEmpty(options), io, async (store) => {
    if (declared === undefined) found = await findHolderById(store, id)
    else found = declaredHolder(declared, declared.kind, (await findAccountHolder(store, declared.account))!)
  })
  if (found !== undefined) return found
  throw new OptionError(
    code === 0 ? 'there is no such key, or it is revoked; umg keys list shows the ids' : 'the keys could not be read',
  )
}
