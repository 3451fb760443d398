import { setupLink } from '../accounts/links.ts'
import { createSetupToken } from '../accounts/setup.ts'
import type { Gateway } from '../gateway.ts'
import type { Urls } from '../http/management/parts.ts'
import { findHolderById } from '../keys/holder.ts'
import { createKey } from '../keys/keys.ts'
import { listKeys } from '../keys/list-keys.ts'
import type { Store } from '../store/database.ts'
import { type FirstCall, firstCall } from './first-call.ts'

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

async function createTestKey(store: Store, { current }: Gateway): Promise<TestKey> {
  const { key, secret } = await createKey(store, { name: 'first start', kind: 'test' })
  const { principal } = (await findHolderById(store, key.id))!
  return { secret, first: firstCall(current(), principal) }
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
