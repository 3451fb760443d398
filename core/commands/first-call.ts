import type { Generation } from '../generation.ts'
import type { Principal } from '../plugin/api.ts'
import { routeFor } from '../routing/any-key.ts'
import type { Candidate, Choice } from '../routing/route.ts'
import type { RoutingTable } from '../routing/table.ts'

/** What a test key can be tried with. */
export type FirstCall = SandboxCall | UpstreamCall | Obstacle

/** A call of a model that the sandbox answers, whatever happens. `upstreams`: what the sandbox does not answer for the key. */
interface SandboxCall {
  readonly by: 'sandbox'
  readonly model: string
  readonly upstreams: readonly string[]
}

/** Only upstreams answer the key. What to call there only they know. */
interface UpstreamCall {
  readonly by: 'upstreams'
  /** The names of their namespaces. */
  readonly upstreams: readonly string[]
}

/** No call of the key is answered before something is done. */
interface Obstacle {
  readonly by: 'nobody'
  readonly todo: string
}

const WITHOUT_AUTH = 'add "- plugin: auth" to the chain of routes.yaml, without "when", so that the gateway knows its keys'
const WITHOUT_NAMESPACE =
  'give routes.yaml a namespace that answers, such as "sandbox: { provider: sandbox }", or set what the notes above ask for'

const SANDBOX = 'sandbox'

/** Finds what the table in use lets a test key try first: what costs nothing before what may. */
export function firstCall({ links, table }: Generation, principal: Principal): FirstCall {
  const auth = links.find(({ name }) => name === 'auth')
  if (auth === undefined) return { by: 'nobody', todo: WITHOUT_AUTH }
  const { namespaces: seen } = auth
  const upstreams = upstreamsOf(table)
  const model = names(table, principal).find((id) => isSandboxed(table, id, principal) && (seen?.has(namespaceOf(id)) ?? true))
  if (model !== undefined) return { by: 'sandbox', model, upstreams }
  // Who lists models names no namespace.
  if (seen !== undefined) return { by: 'nobody', todo: WITHOUT_AUTH }
  return upstreams.length > 0 ? { by: 'upstreams', upstreams } : { by: 'nobody', todo: WITHOUT_NAMESPACE }
}

/** Models that the table may serve, plain ones first. Where a glob lets any name pass, the sandbox takes any. */
function names({ namespaces, curated }: RoutingTable, { models: allowed }: Principal): readonly string[] {
  const all = [...namespaces.values()]
  return [
    ...all.filter(({ upstream }) => upstream?.name === SANDBOX).map(({ name }) => `${name}/hello`),
    ...[...curated.values()].flatMap(({ routes }) => [...routes.values()].map(({ id }) => id)),
    ...all.flatMap(({ name, models = ['*'] }) => models.map((glob) => `${name}/${fitting(glob)}`)),
    ...allowed.flat().map(fitting),
  ]
}

const fitting = (glob: string): string => glob.replaceAll('*', 'hello')

const namespaceOf = (id: string): string => id.slice(0, id.indexOf('/'))

function isSandboxed(table: RoutingTable, id: string, principal: Principal): boolean {
  const route = routeFor(table, id, principal)
  return route !== undefined && providersOf(route.leads).every((provider) => provider === SANDBOX)
}

/** Who may answer by a route. */
const providersOf = (leads: Candidate | Choice): readonly string[] =>
  'target' in leads
    ? [leads.target.served.provider]
    : [...leads.targets, ...leads.fallbacks].flatMap((branch) =>
        providersOf('candidate' in branch ? branch.candidate : branch.choice),
      )

/** The namespaces that test keys reach themselves. */
const upstreamsOf = ({ namespaces }: RoutingTable): readonly string[] =>
  [...namespaces.values()]
    .filter(({ upstream, testKeys }) => testKeys === 'upstream' && upstream !== undefined && upstream.name !== SANDBOX)
    .map(({ name }) => name)
