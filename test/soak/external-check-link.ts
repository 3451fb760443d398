import { defineChain, Type } from 'unified-model-gateway/plugin'

/** A link that checks each call with an external service, as a guardrail does, and stops when the client disconnects. */
export default defineChain({
  apiVersion: 1,
  name: 'external-check',
  schema: Type.Object({ url: Type.String() }, { additionalProperties: false }),
  create: ({ url }) => ({
    async handle(ctx, next) {
      await fetch(url, { signal: ctx.state.signal })
      await next()
    },
  }),
})
