import { defineChain, Type } from 'unified-model-gateway/plugin'

const schema = Type.Object(
  { least: Type.Integer({ minimum: 0, default: 0, description: 'Calls of fewer tokens are not logged.' }) },
  { additionalProperties: false },
)

/** Logs the tokens of each call. */
export default defineChain({
  apiVersion: 1,
  name: 'log-usage',
  schema,
  create: ({ least }, host) => ({
    async handle(ctx, next) {
      const { state } = ctx
      state.onSettled(({ kind, usage }) => {
        const tokens = usage?.total_tokens ?? 0
        if (tokens >= least) host.log.info({ call: state.id, key: state.principal?.name, kind, tokens }, 'usage')
      })
      await next()
    },
  }),
})
