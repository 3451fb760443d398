import { createSetupToken } from '../accounts/setup.ts'
import { setupLink } from '../accounts/tokens.ts'
import type { Urls } from '../control/services.ts'
import type { Gateway } from '../gateway/gateway.ts'
import type { Generation } from '../http/generation.ts'
import { listKeys } from '../keys/api-key.ts'
import { createKey } from '../keys/keys.ts'
import { findHolderById } from '../keys/principal.ts'
import type { Candidate, Choice } from '../routing/route.ts'
import { routeFor } from '../routing/simulate.ts'
import type { RoutingTable } from '../routing/table.ts'
import type { Principal } from '../sdk/api.ts'
import type { Store } from '../store/database.ts'

/** What is shown once, to whoever starts a gateway that nobody uses yet. */
export interface Beginning {
  /** Made while there is no key. */
  readonly testKey: TestKey | undefined
  /** The link that makes the first admin, until there is one. */
  readonly setupLink: string | undefined
}

interface TestKey {
  readonly secret: string
  readonly first: FirstCall
}

/** Makes what a newcomer needs. */
export async function prepareBeginning(store: Store, gateway: Gateway): Promise<Beginning> {
  const isFirst = (await listKeys(store, { limit: 1 })).data.length === 0
  const testKey = isFirst ? await createTestKey(store, gateway) : undefined
  const token = await createSetupToken(store)
  return { testKey, setupLink: token === undefined ? undefined : setupLink(gateway.urls.people, token) }
}

async function createTestKey(store: Store, { live }: Gateway): Promise<TestKey> {
  const { key, secret } = await createKey(store, { name: 'first start', kind: 'test' })
  const { principal } = (await findHolderById(store, key.id))!
  return { secret, first: firstCall(live.generation, principal) }
}

/** The same for people. Empty where there is nothing to show. */
export function welcome({ testKey, setupLink }: Beginning, { clients }: Urls): string {
  const setup =
    setupLink === undefined ? '' : `  Console    ${setupLink}\n             (makes the first admin; works once, for an hour)\n`
  if (testKey === undefined) return setup === '' ? '' : `\n${setup}\n`
  return `
  Base URL   ${clients}/v1
  Test key   ${testKey.secret}   (shown this once${whoAnswers(testKey.first)})
${setup}
${whatNext(testKey, clients)}

`
}

function whoAnswers(first: FirstCall): string {
  if (first.by === 'nobody') return ''
  const upstreams = first.upstreams.map((name) => `${name}/*`).join(', ')
  if (first.by === 'upstreams') return `; its calls of ${upstreams} reach the upstream, and may cost money`
  return `; answered by the sandbox, offline and free${upstreams && `, but for ${upstreams}`}`
}

function whatNext({ secret, first }: TestKey, clients: string): string {
  if (first.by === 'nobody') return `  Before you try it, ${first.todo}.`
  const authorization = `-H 'authorization: Bearer ${secret}'`
  if (first.by === 'upstreams') return `  What it can call:\n\n  curl ${clients}/v1/models \\\n    ${authorization}`
  return `  Try it:

  curl ${clients}/v1/chat/completions \\
    ${authorization} \\
    -H 'content-type: application/json' \\
    -d ${quoted(JSON.stringify({ model: first.model, messages: [{ role: 'user', content: 'Hello!' }] }))}

  A key for real models: npx umg keys create --name "my app"`
}

/** For a shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

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
  const model = names(table, principal).find(
    (id) => isSandboxed(table, id, principal) && (seen === 'all' || seen.has(namespaceOf(id))),
  )
  if (model !== undefined) return { by: 'sandbox', model, upstreams }
  // Who lists models names no namespace.
  if (seen !== 'all') return { by: 'nobody', todo: WITHOUT_AUTH }
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
