import type { CreatedApiKey } from '../../api/keys.ts'
import type { Model } from '../../api/models.ts'

const SANDBOX = 'sandbox/hello'

/** A curl command that works as pasted, with the key and a model that it may call. */
export function curlLine(
  baseUrl: string,
  { kind, secret }: Pick<CreatedApiKey, 'kind' | 'secret'>,
  models: readonly Model[],
): string {
  const live = models.find(({ available, namespace }) => available && namespace !== 'sandbox')
  const model = kind === 'live' ? (live?.id ?? SANDBOX) : SANDBOX
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello!' }] })
  return [
    `curl ${baseUrl}/chat/completions \\`,
    `  -H 'authorization: Bearer ${secret}' \\`,
    `  -H 'content-type: application/json' \\`,
    `  -d '${body}'`,
  ].join('\n')
}
