import { type CallState, defineChain } from 'unified-model-gateway/plugin'
import { admit } from './admission.ts'
import { createClasses } from './classes.ts'
import { Config } from './config.ts'
import { rateHeaders } from './headers.ts'
import { createTagMetrics } from './metrics.ts'
import { compileTags } from './tags.ts'

/** Limits each key by the budgets of its rate class, and labels its calls. */
export default defineChain({
  apiVersion: 1,
  name: 'rate-tagging',
  schema: Config,
  create(config, host) {
    const classOf = createClasses(config, host.log)
    const tags = compileTags(config.tags ?? {})
    const countTagged = createTagMetrics(config.metrics ?? [], tags.names, host.metrics)
    const limited = host.metrics.counter('umg_rate_limited_total', 'Calls refused by a rate limit.', ['limit', 'dimension'])

    return {
      explain: (principal) => [`/classes/${classOf(principal).name}`],
      async handle(ctx, next) {
        const state: CallState = ctx.state
        const { principal } = state
        // Core refuses a call that nobody answers for; a list of models costs no upstream anything.
        if (principal === undefined || state.endpoint === 'models') return next()
        state.onSettled((outcome) => countTagged(state.tags, outcome))

        const rateClass = classOf(principal)
        const setTags = () =>
          tags.set(state.tags, { principal, rateClass: rateClass.name, model: state.model, header: (name) => ctx.get(name) })
        setTags()
        const call = tags.needModel || rateClass.limits.tokens !== undefined ? await state.call() : undefined
        if (tags.needModel) setTags()

        const reservation = await admit({ state, principal, rateClass, call }, host, limited)
        const admittedAt = performance.now()
        try {
          await next()
        } finally {
          ctx.set(rateHeaders(reservation, performance.now() - admittedAt))
        }
      },
    }
  },
})
