import type { Generation } from '../../call/generation.ts'
import { exclusion } from '../../call/link-condition.ts'
import type { Config } from '../../config/config.ts'
import { pathOfPointer } from '../../config/file/path.ts'
import { ANY_KEY, routeFor } from '../../dispatch/simulate.ts'
import type { GatewayError, Principal } from '../../sdk/api.ts'
import { matchesGlob } from '../../text/glob.ts'
import { didYouMean } from '../../text/suggestions.ts'
import { type ExplainedModel, explainRoute, whyLeftOut } from './explain-route.ts'
import { type Quote, RoutesText } from './routes-text.ts'
import { type Assumptions, createSimulator, type Way } from './simulator.ts'

/** How calls of a model are served. `umg explain --json` prints it. */
export interface Explanation {
  /** The model as the client names it. */
  readonly asked: string
  /** The model that an alias stands for. */
  readonly alias?: { readonly of: string; readonly at: string }
  /** The model that serves the calls; absent if they are refused. */
  readonly model?: ExplainedModel
  /** Why the calls are refused. */
  readonly refused?: string
  /** The key of the calls; absent: any live key that names no rate class. */
  readonly key?: { readonly id: string; readonly name: string; readonly kind: Principal['kind']; readonly account: string }
  /** The links in their order. */
  readonly chain: readonly ExplainedLink[]
  /** The assumed failures; absent if there are none. */
  readonly failing?: Readonly<Record<string, string>>
  /** The ways that calls go under these failures. */
  readonly ways?: readonly Way[]
}

/** A link of the chain. */
export interface ExplainedLink {
  readonly plugin: string
  readonly at: string
  /** False: its `when` excludes these calls. */
  readonly sees: boolean
  /** What of the calls excludes them. */
  readonly excluded?: 'namespace' | 'account' | 'key'
  /** The fields of `when` that only a call can answer. */
  readonly onlyWith?: readonly ('endpoints' | 'tags' | 'headers')[]
  /** The settings of its config that apply to the key. */
  readonly limits: readonly Quote[]
  /** Why it refuses the calls of the key; absent if it does not. */
  readonly refuses?: string
}

/** Explains how calls of a model are served. `file`: the path of routes.yaml as the caller gave it. */
export function explainCalls(
  file: string,
  asked: string,
  generation: Generation,
  { principal, failing }: Assumptions,
): Explanation {
  const { config, table } = generation
  const text = new RoutesText(file, config.text)
  const caller = principal ?? ANY_KEY
  const route = routeFor(table, asked, caller)
  const of = config.aliases.get(asked)
  return {
    asked,
    ...(of !== undefined && { alias: { of, at: text.lineOf(['aliases', asked]) } }),
    ...(route ? { model: explainRoute(route, config, text) } : { refused: whyRefused(asked, caller, generation) }),
    ...(principal && { key: { id: principal.keyId, name: principal.name, kind: principal.kind, account: principal.account } }),
    chain: explainChain(generation, text, { namespace: table.resolve(asked)?.namespace, principal: caller }),
    ...(route &&
      failing.size > 0 && {
        failing: Object.fromEntries(failing),
        ways: createSimulator(table)(asked, { ...(principal && { principal }), failing }),
      }),
  }
}

interface ExplainedCall {
  readonly namespace: string | undefined
  readonly principal: Principal
}

function explainChain(
  { links }: Generation,
  text: RoutesText,
  { namespace, principal }: ExplainedCall,
): readonly ExplainedLink[] {
  return links.map(({ name, when, explain }, index) => {
    const excluded = when && exclusion(when, namespace, principal === ANY_KEY ? undefined : principal)
    const sees = excluded === undefined
    const onlyWith = (['endpoints', 'tags', 'headers'] as const).filter((field) => sees && when?.[field] !== undefined)
    const link = {
      plugin: name,
      at: text.lineOf(['chain', index]),
      sees,
      ...(excluded !== undefined && { excluded }),
      ...(onlyWith.length > 0 && { onlyWith }),
      limits: [],
    }
    if (!sees || explain === undefined) return link
    try {
      const pointers = explain(principal)
      const limits = pointers.flatMap((pointer) => text.quoteEntries(['chain', index, 'config', ...pathOfPointer(pointer)]))
      return { ...link, limits }
    } catch (error) {
      return { ...link, refuses: (error as GatewayError).message }
    }
  })
}

/** Why calls of a model are refused. The error that a client gets says only that there is no such model. */
function whyRefused(name: string, principal: Principal, { config, table }: Generation): string {
  const model = table.resolve(name)
  const curated = [...config.curated.values()].flatMap(({ routes }) => [...routes.values()].map(({ id }) => id))
  if (model === undefined) return whyUnknown(name, config, curated)
  if (config.curated.has(model.namespace) && !curated.includes(model.id))
    return `"${model.namespace}" has no curated model "${model.model}"${didYouMean(model.id, curated)}`
  const allowed = config.namespaces.get(model.namespace)?.models
  if (allowed !== undefined && !allowed.some((glob) => matchesGlob(glob, model.model)))
    return `"${model.namespace}" does not allow the model "${model.model}"${didYouMean(model.model, allowed)}`
  if (!table.mayCall(model, principal)) return `the key may not call ${model.id}: ${formatAllowed(principal)}`
  return `${model.id} is left out: ${whyLeftOut(model.id, config)}`
}

function whyUnknown(name: string, { aliases, namespaces, curated }: Config, curatedIds: readonly string[]): string {
  if (name.includes('/')) {
    const [namespace = ''] = name.split('/', 1)
    return `there is no namespace "${namespace}"${didYouMean(namespace, [...namespaces.keys(), ...curated.keys()])}`
  }
  const id = curatedIds.find((each) => each.endsWith(`/${name}`))
  return `there is no alias "${name}"${id === undefined ? didYouMean(name, [...aliases.keys()]) : didYouMean(id, [id])}`
}

/** The lists that restrict anything. */
const formatAllowed = ({ models }: Principal): string =>
  models
    .filter((globs) => !globs.includes('*'))
    .map((globs) => `only ${globs.join(', ') || 'nothing'}`)
    .join(', and of these ')
