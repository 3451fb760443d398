import { defineChain, GatewayError, parseRate, Type } from 'unified-model-gateway/plugin'

/** Limits the tokens of each team, which a header names. */
export default defineChain({
  apiVersion: 1,
  name: 'teams',
  schema: Type.Object({ tokens: Type.String(), concurrent: Type.Optional(Type.Integer()) }),
  create({ tokens, concurrent }, host) {
    const limits = { tokens: parseRate(tokens, 'UTC'), ...(concurrent !== undefined && { concurrent }) }
    return {
      async handle(ctx, next) {
        const left = await host.limits.reserveFor(ctx, {
          scopes: [{ subject: `teams/${ctx.get('x-team')}`, limits }],
          answerTokens: 100,
          refusal: ({ refusedBy, refusedFor, neededTokens }) =>
            new GatewayError('request_refused', { values: { detail: `${refusedFor} ${refusedBy} ${neededTokens}` } }),
        })
        ctx.set('x-team-left', String(left.tokens?.remaining))
        await next()
      },
    }
  },
})
