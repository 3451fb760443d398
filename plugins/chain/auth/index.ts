import { defineChain, GatewayError, type Principal, Type } from 'unified-model-gateway/plugin'
import { readCredential } from './credential.ts'
import { maskKey } from './mask.ts'

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

/** Identifies each call by its API key (`Authorization: Bearer sk-live-…`) and refuses what it cannot identify. */
export default defineChain({
  apiVersion: 1,
  name: 'auth',
  schema: Config,
  create({ anonymous }, host) {
    const failures = host.metrics.counter('umg_auth_failures_total', 'Calls refused for want of a valid API key.', ['reason'])
    const anyone = anonymous && anonymousPrincipal(anonymous.models, anonymous.class)

    function refuse(reason: 'missing' | 'malformed' | 'unknown', token = ''): never {
      failures.add(1, reason)
      if (reason === 'missing') throw new GatewayError('missing_api_key')
      throw new GatewayError('invalid_api_key', { values: { key: maskKey(token) } })
    }

    return {
      async handle(ctx, next) {
        const credential = readCredential(ctx.req.rawHeaders)
        if (credential.kind === 'bearer')
          ctx.state.principal = (await host.keys.verify(credential.token)) ?? refuse('unknown', credential.token)
        else if (credential.kind === 'missing' && anyone !== undefined) ctx.state.principal = anyone
        else refuse(credential.kind)
        await next()
      },
    }
  },
})

/** Whoever calls without a key, where that is allowed: one subject of the rate limits for all of them. */
function anonymousPrincipal(models: readonly string[], rateClass: string | undefined): Principal {
  return Object.freeze({ keyId: 'anonymous', name: 'anonymous', kind: 'live', account: 'anonymous', models: [models], rateClass })
}
