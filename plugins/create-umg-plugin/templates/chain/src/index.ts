import { defineChain, type EndpointName, GatewayError, Type } from 'unified-model-gateway/plugin'

const schema = Type.Object(
  {
    team: Type.String({ minLength: 1, description: 'The value of the header x-team, for upstreams and clients.' }),
    mostTokens: Type.Integer({ minimum: 1, default: 4000, description: 'The most tokens that a call may request.' }),
    slow: Type.Integer({ minimum: 0, default: 10_000, description: 'From how many milliseconds on a call is logged.' }),
  },
  { additionalProperties: false },
)

/** The endpoints at which models write. Links see calls of Messages and Responses as chat completions; others have no `max_tokens`. */
const WRITING: ReadonlySet<EndpointName> = new Set(['chat.completions', 'completions', 'messages', 'responses'])

/** Sends the team of each call to the upstream, limits the length of replies, and logs slow calls. */
export default defineChain({
  apiVersion: 1,
  name: '__name__',
  schema,

  create({ team, mostTokens, slow }, host) {
    return {
      async handle(ctx, next) {
        const { state } = ctx
        state.upstreamHeaders['x-team'] = team
        if (WRITING.has(state.endpoint)) {
          const call = await state.call()
          const requested = call.member('max_completion_tokens') ?? call.member('max_tokens')
          if (requested == null) call.edit('/max_tokens', mostTokens)
          else if (Number(requested) > mostTokens) {
            throw new GatewayError('request_refused', { values: { detail: `Ask for at most ${mostTokens} tokens.` } })
          }
        }
        state.onSettled(({ kind, times }) => {
          if (times.total >= slow) host.log.warn({ call: state.id, kind, ms: Math.round(times.total) }, 'a slow call')
        })

        await next()

        // The reply is committed or has failed: its headers can still be set, also of errors.
        ctx.set('x-team', team)
      },
    }
  },
})
