import { defineChain, GatewayError, type Principal, Type } from 'unified-model-gateway/plugin'

const Config = Type.Object(
  {
    anonymous: Type.Optional(
      Type.Object(
        {
          models: Type.Array(Type.String({ minLength: 1 }), {
            minItems: 1,
            description: 'Globs of the model ids that anyone may call.',
            examples: [['sandbox/*']],
          }),
          class: Type.Optional(
            Type.String({ minLength: 1, refersTo: 'rate class', description: 'The rate class that all of these calls share.' }),
          ),
        },
        {
          additionalProperties: false,
          description: 'Opens the gateway to calls without a key. A wrong key is still refused.',
        },
      ),
    ),
  },
  { additionalProperties: false },
)

/** Identifies each call by its API key (`Authorization: Bearer sk-live-…`, or `x-api-key`) and refuses what it cannot identify. */
export default defineChain({
  apiVersion: 1,
  name: 'auth',
  schema: Config,
  create({ anonymous }, host) {
    const failures = host.metrics.counter('umg_auth_failures_total', 'Calls refused because they had no valid API key.', [
      'reason',
    ])
    const withoutKey = anonymous && anonymousPrincipal(anonymous.models, anonymous.class)

    function refuse(reason: 'missing' | 'malformed' | 'conflicting' | 'unknown', token = ''): never {
      failures.add(1, reason)
      if (reason === 'missing') throw new GatewayError('missing_api_key')
      if (reason === 'conflicting') throw new GatewayError('two_api_keys')
      throw new GatewayError('invalid_api_key', { values: { key: maskKey(token) } })
    }

    function notVerified(error: unknown): never {
      if (error instanceof GatewayError && error.row === 'api_key_disabled') failures.add(1, 'disabled')
      throw error
    }

    return {
      async handle(ctx, next) {
        const credential = readCredential(ctx.req.rawHeaders)
        if (credential.kind === 'key')
          ctx.state.principal =
            (await host.keys.verify(credential.token).catch(notVerified)) ?? refuse('unknown', credential.token)
        else if (credential.kind === 'missing' && withoutKey !== undefined) ctx.state.principal = withoutKey
        else refuse(credential.kind)
        await next()
      },
    }
  },
})

/** The principal of all calls without a key, if they are allowed. They share their rate limits. */
function anonymousPrincipal(models: readonly string[], rateClass: string | undefined): Principal {
  return Object.freeze({ keyId: 'anonymous', name: 'anonymous', kind: 'live', account: 'anonymous', models: [models], rateClass })
}

/** The credential of a request: absent, malformed, two that differ, or a key. */
export type Credential =
  | { readonly kind: 'missing' | 'malformed' | 'conflicting' }
  | { readonly kind: 'key'; readonly token: string }

const MISSING: Credential = { kind: 'missing' }
const MALFORMED: Credential = { kind: 'malformed' }
const CONFLICTING: Credential = { kind: 'conflicting' }

/**
 * Reads the credential of a request from `req.rawHeaders`, where nothing was merged or dropped: of two Authorization headers Node's
 * `headers` keeps the first, and a proxy before us may have judged the second. Anthropic's SDKs send the key as x-api-key, and both headers
 * if they are given both: equal keys are one; of different ones, a proxy before us may have judged the other.
 */
export function readCredential(rawHeaders: readonly string[]): Credential {
  let authorization: string | undefined
  let apiKey: string | undefined
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!.toLowerCase()
    if (name === 'authorization') {
      if (authorization !== undefined) return MALFORMED
      authorization = rawHeaders[i + 1]!
    } else if (name === 'x-api-key') {
      if (apiKey !== undefined) return MALFORMED
      apiKey = rawHeaders[i + 1]!
    }
  }
  if (authorization === undefined && apiKey === undefined) return MISSING
  // RFC 6750 §2.1; the scheme's case does not matter (RFC 9110 §11.1). Printable ASCII only.
  const bearer = authorization === undefined ? undefined : /^bearer +([!-~]+)$/i.exec(authorization)?.[1]
  const plain = apiKey === undefined ? undefined : /^[!-~]+$/.exec(apiKey)?.[0]
  if (authorization !== undefined && bearer === undefined) return MALFORMED
  if (apiKey !== undefined && plain === undefined) return MALFORMED
  if (bearer !== undefined && plain !== undefined && bearer !== plain) return CONFLICTING
  return { kind: 'key', token: bearer ?? plain! }
}

/** Masks a token, so that its owner can still recognise it: `sk-li***wjh3`. A short one is masked completely. */
export function maskKey(token: string): string {
  return token.length < 20 ? '***' : `${token.slice(0, 5)}***${token.slice(-4)}`
}
