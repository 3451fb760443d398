import { setupLink } from '../accounts/links.ts'
import { createSetupToken } from '../accounts/setup.ts'
import type { Urls } from '../http/management/parts.ts'
import { createKey } from '../keys/keys.ts'
import { listKeys } from '../keys/list-keys.ts'
import type { Store } from '../store/database.ts'

/** What is shown once, to whoever starts a gateway that nobody uses yet. */
export interface Beginning {
  /** The secret of a test key, while there is no key. */
  readonly testKey: string | undefined
  /** The link that makes the first admin, until there is one. */
  readonly setupLink: string | undefined
}

/** Makes what a newcomer needs. A test key costs nothing, and opens nothing but the sandbox. */
export async function prepareBeginning(store: Store, { people }: Urls): Promise<Beginning> {
  const isFirst = (await listKeys(store, { limit: 1 })).data.length === 0
  const key = isFirst ? await createKey(store, { name: 'first start', kind: 'test' }) : undefined
  const token = await createSetupToken(store)
  return { testKey: key?.secret, setupLink: token === undefined ? undefined : setupLink(people, token) }
}

/** The same for people. Empty where there is nothing to show. */
export function welcome({ testKey, setupLink }: Beginning, { clients }: Urls): string {
  const setup =
    setupLink === undefined ? '' : `  Console    ${setupLink}\n             (makes the first admin; works once, for an hour)\n`
  if (testKey === undefined) return setup === '' ? '' : `\n${setup}\n`
  return `
  Base URL   ${clients}/v1
  Test key   ${testKey}   (shown this once; answered by the sandbox, offline and free)
${setup}
  Try it:

  curl ${clients}/v1/chat/completions \\
    -H 'authorization: Bearer ${testKey}' \\
    -H 'content-type: application/json' \\
    -d '${HELLO}'

  A key for real models: npx umg keys create --name "my app"

`
}

const HELLO = '{"model":"sandbox/hello","messages":[{"role":"user","content":"Hello!"}]}'
