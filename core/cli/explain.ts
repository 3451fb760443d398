import type { Config } from '../config/config.ts'
import { pathOfPointer } from '../config/file/path.ts'
import type { RetryCause } from '../config/schema/retry-causes.ts'
import type { Generation } from '../http/generation.ts'
import { declaredHolder, findHolderById, type KeyHolder } from '../keys/principal.ts'
import { ANY_KEY, routeFor } from '../routing/simulate.ts'
import type { RoutingTable } from '../routing/table.ts'
import type { GatewayError, Principal } from '../sdk/api.ts'
import { ConfigError } from '../text/diagnostic.ts'
import { matchesGlob } from '../text/glob.ts'
import { didYouMean } from '../text/suggestions.ts'
import { type ExplainedModel, explainRoute, type Saying, Written, whyLeftOut } from './explain-model.ts'
import type { CommandIo } from './io.ts'
import { printExplanation } from './print-explanation.ts'
import { createSimulator, type Supposition, type Way } from './simulate.ts'
import { type StoreOptions, withStore } from './store.ts'
import { tryOut } from './try-out.ts'
import { printConfigError } from './validate.ts'

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
  return tryOut(routes, io.env, async (generation) => {
    const { config } = generation
    const { namespaces } = config
    for (const name of failing.keys()) {
      const [namespace = ''] = name.split('/', 1)
      if (!namespaces.has(namespace))
        throw new NoAnswer(`--failing: there is no upstream "${namespace}"${didYouMean(namespace, [...namespaces.keys()])}`)
    }
    const holder = key === undefined ? undefined : await findKey(key, config, { options, io })
    if ((holder?.expiresAt ?? Number.POSITIVE_INFINITY) <= Date.now())
      io.stderr.write('note: the key has expired: its calls are refused\n')
    return explainCalls(routes, asked, generation, { ...(holder && { principal: holder.principal }), failing })
  })
}

interface Asking {
  readonly options: ExplainOptions
  readonly io: CommandIo
}

async function findKey(id: string, { keys }: Config, { options, io }: Asking): Promise<KeyHolder> {
  const declared = keys.find(({ name }) => name === id || `routes:${name}` === id)
  if (declared !== undefined) return declaredHolder(declared, declared.kind)
  let found: KeyHolder | undefined
  const code = await withStore(options, io, async (store) => {
    found = await findHolderById(store, id)
  })
  if (found !== undefined) return found
  throw new NoAnswer(
    code === 0 ? 'there is no such key, or it is revoked; umg keys list shows the ids' : 'the keys could not be read',
  )
}

/** What becomes of calls that name a model. */
export interface Explanation {
  /** As the client names it. */
  readonly asked: string
  /** What it stands for, where it is an alias. */
  readonly alias?: { readonly of: string; readonly at: string }
  /** What serves it; absent where nothing does. */
  readonly model?: ExplainedModel
  /** Why nothing does. */
  readonly refused?: string
  /** Who calls; absent: any live key that names no rate class. */
  readonly key?: { readonly id: string; readonly name: string; readonly kind: Principal['kind']; readonly account: string }
  /** In the order in which calls pass the links. */
  readonly chain: readonly ExplainedLink[]
  /** What fails, as was supposed, and how calls then go; absent where nothing was. */
  readonly failing?: Readonly<Record<string, string>>
  readonly ways?: readonly Way[]
}

/** A link of the chain. */
export interface ExplainedLink {
  readonly plugin: string
  readonly at: string
  /** False: by its `when` these calls pass it by. */
  readonly sees: boolean
  /** What of its config holds for the caller. */
  readonly limits: readonly Saying[]
  /** Why it refuses the key's calls, where it does. */
  readonly refuses?: string
}

/** Explains what becomes of calls. `file`: the path of routes.yaml as the person gave it. */
export function explainCalls(
  file: string,
  asked: string,
  generation: Generation,
  { principal, failing }: Supposition,
): Explanation {
  const { config, table } = generation
  const written = new Written(file, config.text)
  const caller = principal ?? ANY_KEY
  const route = routeFor(table, asked, caller)
  const of = config.aliases.get(asked)
  return {
    asked,
    ...(of !== undefined && { alias: { of, at: written.at(['aliases', asked]) } }),
    ...(route ? { model: explainRoute(route, { written, config }) } : { refused: whyNot(asked, caller, { config, table }) }),
    ...(principal && { key: { id: principal.keyId, name: principal.name, kind: principal.kind, account: principal.account } }),
    chain: explainChain(generation, written, { namespace: table.resolve(asked)?.namespace, principal: caller }),
    ...(route &&
      failing.size > 0 && {
        failing: Object.fromEntries(failing),
        ways: createSimulator(table)(asked, { ...(principal && { principal }), failing }),
      }),
  }
}

interface Caller {
  readonly namespace: string | undefined
  readonly principal: Principal
}

function explainChain({ links }: Generation, written: Written, { namespace, principal }: Caller): readonly ExplainedLink[] {
  return links.map(({ name, namespaces, explain }, index) => {
    const sees = namespaces === 'all' || (namespace !== undefined && namespaces.has(namespace))
    const link = { plugin: name, at: written.at(['chain', index]), sees, limits: [] }
    if (!sees || explain === undefined) return link
    try {
      const pointers = explain(principal)
      return {
        ...link,
        limits: pointers.flatMap((pointer) => written.entries(['chain', index, 'config', ...pathOfPointer(pointer)])),
      }
    } catch (error) {
      return { ...link, refuses: (error as GatewayError).message }
    }
  })
}

/** Why calls of a principal that name this model are refused: clients are told only that there is no such model. */
export function whyNot(name: string, principal: Principal, { config, table }: { config: Config; table: RoutingTable }): string {
  const model = table.resolve(name)
  const curated = [...config.curated.values()].flatMap(({ routes }) => [...routes.values()].map(({ id }) => id))
  if (model === undefined) return unknown(name, config, curated)
  if (config.curated.has(model.namespace) && !curated.includes(model.id))
    return `"${model.namespace}" has no curated model "${model.model}"${didYouMean(model.id, curated)}`
  const allowed = config.namespaces.get(model.namespace)?.models
  if (allowed !== undefined && !allowed.some((glob) => matchesGlob(glob, model.model)))
    return `"${model.namespace}" does not allow the model "${model.model}"${didYouMean(model.model, allowed)}`
  if (!table.mayCall(model, principal)) return `the key may not call ${model.id}: ${allows(principal)}`
  return `${model.id} is left out: ${whyLeftOut(model.id, config)}`
}

function unknown(name: string, { aliases, namespaces, curated }: Config, ids: readonly string[]): string {
  if (name.includes('/')) {
    const [namespace = ''] = name.split('/', 1)
    return `there is no namespace "${namespace}"${didYouMean(namespace, [...namespaces.keys(), ...curated.keys()])}`
  }
  const meant = ids.find((id) => id.endsWith(`/${name}`))
  return `there is no alias "${name}"${meant === undefined ? didYouMean(name, [...aliases.keys()]) : didYouMean(meant, [meant])}`
}

function allows({ models }: Principal): string {
  return models.map((globs) => `only ${globs.join(', ') || 'nothing'}`).join(', and of these ')
}
