import { basename } from 'node:path'
import { createSetupToken } from '../../accounts/setup.ts'
import { setupLink } from '../../accounts/tokens.ts'
import type { Generation } from '../../call/generation.ts'
import { CONSOLE } from '../../control/console.ts'
import type { Urls } from '../../control/services.ts'
import { routeFor } from '../../dispatch/simulate.ts'
import type { Gateway } from '../../gateway/gateway.ts'
import { hasKeys } from '../../keys/api-key.ts'
import { createKey } from '../../keys/keys.ts'
import { findHolderById, principalOf } from '../../keys/principal.ts'
import type { Candidate, Choice } from '../../routing/route.ts'
import type { RoutingTable } from '../../routing/table.ts'
import type { Principal } from '../../sdk/api.ts'
import type { Store } from '../../store/database.ts'

/** The secrets of a new gateway, which are shown once. */
export interface FirstAccess {
  /** Undefined if there are keys already. */
  readonly testKey: TestKey | undefined
  /** The link that creates the first admin. Undefined if there is an admin. */
  readonly setupLink: string | undefined
}

interface TestKey {
  readonly secret: string
  readonly firstCall: FirstCall
}

/** Creates a test key and a setup link for a new gateway. */
export async function createFirstAccess(store: Store, gateway: Pick<Gateway, 'live' | 'urls'>): Promise<FirstAccess> {
  const testKey = (await hasKeys(store)) ? undefined : await createTestKey(store, gateway)
  const token = await createSetupToken(store)
  return { testKey, setupLink: token === undefined ? undefined : setupLink(gateway.urls.people, token) }
}

async function createTestKey(store: Store, { live }: Pick<Gateway, 'live'>): Promise<TestKey> {
  const { key, secret } = await createKey(store, { name: 'first start', kind: 'test' })
  const principal = principalOf((await findHolderById(store, key.id))!, live.generation.config.accounts)
  return { secret, firstCall: chooseFirstCall(live.generation, principal) }
}

/** The text that shows the secrets and how to use them; if there are none, where keys come from. */
export function formatWelcome({ testKey, setupLink }: FirstAccess, { clients, people }: Urls): string {
  const setup =
    setupLink === undefined
      ? `  Console    ${people}${CONSOLE}\n`
      : `  Console    ${setupLink}\n             (makes the first admin; works once, for an hour)\n`
  if (testKey === undefined) return `\n${setup}  Keys       ${UMG} keys create --name "my app"\n\n`
  return `
  Base URL   ${clients}/v1
  Test key   ${testKey.secret}   (shown this once${formatServer(testKey.firstCall)})
${setup}
${formatNextStep(testKey, clients)}

`
}

function formatServer(firstCall: FirstCall): string {
  if (firstCall.servedBy === 'nothing') return ''
  const upstreams = firstCall.upstreams.map((name) => `${name}/*`).join(', ')
  if (firstCall.servedBy === 'upstreams') return `; its calls of ${upstreams} reach the upstream, and may cost money`
  return `; answered by the sandbox, offline and free${upstreams && `, but for ${upstreams}`}`
}

function formatNextStep({ secret, firstCall }: TestKey, clients: string): string {
  if (firstCall.servedBy === 'nothing') return `  Before you try it, ${firstCall.todo}.`
  const authorization = `-H 'authorization: Bearer ${secret}'`
  if (firstCall.servedBy === 'upstreams') return `  What it can call:\n\n  curl ${clients}/v1/models \\\n    ${authorization}`
  return `  Try it:

  curl ${clients}/v1/chat/completions \\
    ${authorization} \\
    -H 'content-type: application/json' \\
    -d ${quoteForShell(JSON.stringify({ model: firstCall.model, messages: [{ role: 'user', content: 'Hello!' }] }))}

  A key for real models: ${UMG} keys create --name "my app"`
}

/**
 * How the reader runs `umg`. Where the gateway runs by `npx unified-model-gateway` it may not be installed: `npx umg` would then look
 * for another package.
 */
const UMG = basename(process.argv[1] ?? '', '.mjs') === 'unified-model-gateway' ? 'npx unified-model-gateway' : 'npx umg'

const quoteForShell = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** The call that a new test key is tried with. */
type FirstCall = SandboxCall | UpstreamCall | NoCall

/** A call of a model that only the sandbox serves. */
interface SandboxCall {
  readonly servedBy: 'sandbox'
  readonly model: string
  /** The namespaces that the sandbox does not serve for test keys. */
  readonly upstreams: readonly string[]
}

/** Only upstreams serve test keys. The names of their models are not known. */
interface UpstreamCall {
  readonly servedBy: 'upstreams'
  /** Their namespaces. */
  readonly upstreams: readonly string[]
}

/** No call is served until the operator changes routes.yaml or the environment. */
interface NoCall {
  readonly servedBy: 'nothing'
  readonly todo: string
}

const ADD_AUTH = 'add "- plugin: auth" to the chain of routes.yaml, without "when", so that the gateway knows its keys'
const ADD_NAMESPACE =
  'give routes.yaml a namespace that answers, such as "sandbox: { provider: sandbox }", or set what the notes above ask for'

const SANDBOX = 'sandbox'

/** Chooses the first call for a test key; free calls are preferred. */
function chooseFirstCall({ links, table }: Generation, principal: Principal): FirstCall {
  const auth = links.find(({ name }) => name === 'auth')
  if (auth === undefined) return { servedBy: 'nothing', todo: ADD_AUTH }
  const { when } = auth
  const isAuthenticated = (id: string): boolean =>
    when === undefined || (Object.keys(when).join() === 'namespaces' && when.namespaces!.includes(namespaceOf(id)))
  const upstreams = upstreamsOf(table)
  const model = candidateNames(table, principal).find((id) => isSandboxed(table, id, principal) && isAuthenticated(id))
  if (model !== undefined) return { servedBy: 'sandbox', model, upstreams }
  // A request for the list of models names no namespace, so that auth would not see it.
  if (when !== undefined) return { servedBy: 'nothing', todo: ADD_AUTH }
  return upstreams.length > 0 ? { servedBy: 'upstreams', upstreams } : { servedBy: 'nothing', todo: ADD_NAMESPACE }
}

/** Names of models that may be served, the simplest first. For a glob, any name that matches it: the sandbox serves every name. */
function candidateNames({ namespaces, curated }: RoutingTable, { models: allowed }: Principal): readonly string[] {
  const all = [...namespaces.values()]
  return [
    ...all.filter(({ upstream }) => upstream?.name === SANDBOX).map(({ name }) => `${name}/hello`),
    ...[...curated.values()].flatMap(({ routes }) => [...routes.values()].map(({ id }) => id)),
    ...all.flatMap(({ name, models = ['*'] }) => models.map((glob) => `${name}/${fillIn(glob)}`)),
    ...allowed.flat().map(fillIn),
  ]
}

const fillIn = (glob: string): string => glob.replaceAll('*', 'hello')

const namespaceOf = (id: string): string => id.slice(0, id.indexOf('/'))

function isSandboxed(table: RoutingTable, id: string, principal: Principal): boolean {
  const route = routeFor(table, id, principal)
  return route !== undefined && providersOf(route.leads).every((provider) => provider === SANDBOX)
}

/** The providers of all candidates of a route. */
const providersOf = (leads: Candidate | Choice): readonly string[] =>
  'target' in leads
    ? [leads.target.served.provider]
    : [...leads.targets, ...leads.fallbacks].flatMap((branch) =>
        providersOf('candidate' in branch ? branch.candidate : branch.choice),
      )

/** The namespaces whose upstreams serve test keys. */
const upstreamsOf = ({ namespaces }: RoutingTable): readonly string[] =>
  [...namespaces.values()]
    .filter(({ upstream, testKeys }) => testKeys === 'upstream' && upstream !== undefined && upstream.name !== SANDBOX)
    .map(({ name }) => name)
