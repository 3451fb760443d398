import { defineChain, GatewayError, Type } from 'unified-model-gateway/plugin'

/** Does what the header says before an attempt that follows those which have used tokens. */
export default defineChain({
  apiVersion: 1,
  name: 'prudent',
  schema: Type.Object({}),
  create: (_, host) => ({
    async handle(ctx, next) {
      const mood = ctx.get('x-mood')
      ctx.state.onRetry(async ({ total_tokens }) => {
        host.log.info({ total_tokens }, 'before another attempt')
        if (mood === 'strict') throw new GatewayError('request_refused', { values: { detail: `${total_tokens} are enough.` } })
        if (mood === 'broken') throw new Error('oops')
        if (mood === 'endless') await new Promise(() => undefined)
      })
      await next()
    },
  }),
})
