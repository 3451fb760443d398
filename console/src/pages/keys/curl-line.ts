import type { CreatedApiKey } from '../../api/keys.ts'
import type { Model } from '../../api/models.ts'

/** While no model is known that the key may call. */
const NO_MODEL = 'namespace/model'

/** A curl command that works as pasted, with the key and a model that it may call. */
export function curlLine(
  baseUrl: string,
  { kind, secret }: Pick<CreatedApiKey, 'kind' | 'secret'>,
  models: readonly Model[],
): string {
  const callable = models.filter(({ available }) => available)
  const isOfSandbox = ({ namespace }: Model): boolean => namespace === 'sandbox'
  // A test key is answered by the sandbox, whatever model it names.
  const best = callable.find((model) => isOfSandbox(model) === (kind === 'test')) ?? callable[0]
  const model = best?.id ?? NO_MODEL
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello!' }] })
  return [
    `curl ${baseUrl}/chat/completions \\`,
    `  -H 'authorization: Bearer ${secret}' \\`,
    `  -H 'content-type: application/json' \\`,
    `  -d '${body}'`,
  ].join('\n')
}
