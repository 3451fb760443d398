import type { Context } from 'koa'
import { type CallState, defineChain, Type } from 'unified-model-gateway/plugin'
import { compileHeaders, headerText } from './headers.ts'

const HeaderTemplates = (description: string, example: Record<string, string>) =>
  Type.Optional(Type.Record(Type.String(), Type.String({ minLength: 1 }), { description, examples: [example] }))

const Config = Type.Object(
  {
    response: HeaderTemplates(
      'Headers of the reply. Places: {namespace} {model} (as asked for) {served_namespace} {served_model} {request_id} {key} {account} {tag.NAME}. A header of which a value is unknown is left out.',
      { 'x-served-by': '{served_namespace}/{served_model}' },
    ),
    upstream: HeaderTemplates(
      'Headers of the requests to upstreams. Places: {namespace} {model} (as asked for) {request_id} {key} {account} {tag.NAME}.',
      { 'x-team': '{tag.team}' },
    ),
  },
  { additionalProperties: false },
)

/** Says on every reply who served it, how long that took and in how many attempts, and stamps the operator's own headers. */
export default defineChain({
  apiVersion: 1,
  name: 'header-stamping',
  schema: Config,
  create({ response = {}, upstream = {} }) {
    const ofReply = compileHeaders('response', response)
    const ofUpstream = compileHeaders('upstream', upstream)

    return {
      async handle(ctx, next) {
        const state: CallState = ctx.state
        if (state.endpoint !== 'models') {
          if (ofUpstream.needModel) await state.call()
          ofUpstream.stamp(state, (name, value) => {
            state.upstreamHeaders[name] = value
          })
        }
        try {
          await next()
        } finally {
          ofReply.stamp(state, (name, value) => ctx.set(name, value))
          stampTimes(state, ctx)
          stampServer(state, ctx)
        }
      },
    }
  },
})

/** `openai-processing-ms` is OpenAI's: whole milliseconds. The gateway's own share is mostly below one. */
function stampTimes(state: CallState, ctx: Context): void {
  const { total, overhead } = state.elapsed()
  ctx.set('openai-processing-ms', String(Math.round(total)))
  ctx.set('x-umg-overhead-ms', overhead.toFixed(1))
}

/** Who served the call, as far as it came. */
function stampServer({ served, attempts }: CallState, ctx: Context): void {
  if (served !== undefined) {
    ctx.set('x-umg-namespace', headerText(served.namespace))
    ctx.set('x-umg-model', headerText(served.model))
  }
  if (attempts.length > 0) ctx.set('x-umg-attempts', String(attempts.length))
}
