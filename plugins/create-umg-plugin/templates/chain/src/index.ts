import { defineChain, GatewayError, Type } from 'unified-model-gateway/plugin'

const schema = Type.Object(
  {
    team: Type.String({ minLength: 1, description: 'What the upstream reads in x-team.' }),
    mostTokens: Type.Integer({ minimum: 1, default: 4000, description: 'The most tokens that a call may ask for.' }),
    slow: Type.Integer({ minimum: 0, default: 10_000, description: 'Milliseconds from which a call is logged.' }),
  },
  { additionalProperties: false },
)

/** Names the team of each call to the upstream, keeps replies short, and logs calls that took long. */
export default defineChain({
  apiVersion: 1,
  name: '__name__',
  schema,

  create({ team, mostTokens, slow }, host) {
    return {
      async handle(ctx, next) {
        const { state } = ctx
        // The list of models has no body, and asks for no tokens.
        if (state.endpoint === 'models') return next()
        state.upstreamHeaders['x-team'] = team
        const call = await state.call()
        const asked = call.member('max_tokens')
        if (asked == null) call.edit('/max_tokens', mostTokens)
        else if (Number(asked) > mostTokens) {
          throw new GatewayError('request_refused', { values: { detail: `Ask for at most ${mostTokens} tokens.` } })
        }
        state.onSettled(({ kind, times }) => {
          if (times.total >= slow) host.log.warn({ call: state.id, kind, ms: Math.round(times.total) }, 'a slow call')
        })

        await next()

        // The reply is on its way, or has failed: its head can still be changed, on errors too.
        ctx.set('x-team', team)
      },
    }
  },
})
