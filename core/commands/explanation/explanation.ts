import { segments } from '../../config/check/findings.ts'
import type { BuiltTable } from '../../load-table.ts'
import type { GatewayError, Principal } from '../../plugin/api.ts'
import { ANY_KEY, routeFor } from '../../routing/any-key.ts'
import { createForecast, type Supposition, type Way } from '../forecast.ts'
import { type ExplainedModel, explainRoute } from './explain-model.ts'
import { whyNot } from './why-not.ts'
import { type Saying, Written } from './written.ts'

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

/** Explains what becomes of calls. `file`: the table as the person named it. */
export function explainCalls(file: string, asked: string, table: BuiltTable, { principal, failing }: Supposition): Explanation {
  const { config, generation, text } = table
  const written = new Written(file, text)
  const caller = principal ?? ANY_KEY
  const route = routeFor(generation.table, asked, caller)
  const of = config.aliases.get(asked)
  return {
    asked,
    ...(of !== undefined && { alias: { of, at: written.at(['aliases', asked]) } }),
    ...(route
      ? { model: explainRoute(route, { written, config }) }
      : { refused: whyNot(asked, caller, { config, table: generation.table }) }),
    ...(principal && { key: { id: principal.keyId, name: principal.name, kind: principal.kind, account: principal.account } }),
    chain: explainChain(table, written, { namespace: generation.table.resolve(asked)?.namespace, principal: caller }),
    ...(route &&
      failing.size > 0 && {
        failing: Object.fromEntries(failing),
        ways: createForecast(generation.table)(asked, { ...(principal && { principal }), failing }),
      }),
  }
}

interface Caller {
  readonly namespace: string | undefined
  readonly principal: Principal
}

function explainChain({ generation }: BuiltTable, written: Written, { namespace, principal }: Caller): readonly ExplainedLink[] {
  return generation.links.map(({ name, namespaces, explain }, index) => {
    const sees = namespaces === undefined || (namespace !== undefined && namespaces.has(namespace))
    const link = { plugin: name, at: written.at(['chain', index]), sees, limits: [] }
    if (!sees || explain === undefined) return link
    try {
      const pointers = explain(principal)
      return { ...link, limits: pointers.flatMap((pointer) => written.entries(['chain', index, 'config', ...segments(pointer)])) }
    } catch (error) {
      return { ...link, refuses: (error as GatewayError).message }
    }
  })
}
