/** A chain plugin that uses all that the plugin API offers one, so that a test can watch each hook. */
import { type CallState, defineChain, GatewayError, type Outcome, Type } from 'unified-model-gateway/plugin'

export default defineChain({
  apiVersion: 1,
  name: 'audit',
  schema: Type.Object(
    {
      directory: Type.String({ description: 'URL of a JSON object: from the name of a key to its team.' }),
      atOnce: Type.Integer({ minimum: 1, description: 'Calls of one team that may be under way at once.' }),
    },
    { additionalProperties: false },
  ),

  async create({ directory, atOnce }, host) {
    const teams = (await host.getJson(directory, { headers: {}, signal: host.signal })) as Record<string, string>
    const calls = host.metrics.counter('audit_calls_total', 'Calls that were audited.', ['team', 'outcome'])
    const prompts = host.metrics.histogram('audit_prompt_tokens', 'Tokens of audited prompts.', [], [10, 100, 1000])

    /** Tells the test what a link knows of a call that has ended. */
    function report(state: CallState, { kind, status, error, served, attempts, usage, times }: Outcome): void {
      const how = { kind, status, error: error?.row, served, attempts: attempts.map(({ result }) => result), usage }
      host.log.info({ call: state.id, ...how, gone: state.signal.aborted, timed: times.total >= times.overhead }, 'audited')
    }

    return {
      async handle(ctx, next) {
        const { state } = ctx
        const team = teams[state.principal!.name] ?? 'none'
        state.tags.team = team
        state.upstreamHeaders['x-team'] = team
        state.onSettled((outcome) => {
          calls.add(1, team, outcome.kind)
          report(state, outcome)
        })

        const place = await host.limits.reserve([{ subject: `audit/${team}`, limits: { concurrent: atOnce } }], 0)
        state.onSettled(() => place.settle(0))
        if (place.refusedBy !== undefined) throw new GatewayError('request_refused', { values: { detail: 'Your team is busy.' } })

        const call = await state.call()
        prompts.observe(await host.countTokens(call))
        const deputy = await host.keys.verify(ctx.get('x-deputy'))
        const fingerprint = await host.offload(new URL('./fingerprint.ts', import.meta.url), 'fingerprint', call.body.messages)
        call.edit('/metadata', { team, deputy: deputy?.name ?? 'none', fingerprint })
        state.reply.transform({
          chunk(chunk) {
            for (const { delta } of chunk.choices)
              if (typeof delta.content === 'string') delta.content = delta.content.toUpperCase()
            return chunk
          },
          completion(completion) {
            for (const { message } of completion.choices) message.content = message.content?.toUpperCase() ?? null
            return completion
          },
        })

        await next()
        const { served, attempts, failure } = state
        const { total, overhead } = state.elapsed()
        ctx.set('x-audit-served', served === undefined ? 'nobody' : `${served.provider} ${served.namespace}/${served.model}`)
        ctx.set('x-audit-attempts', attempts.map(({ result }) => result).join(' '))
        ctx.set('x-audit-failure', failure?.row ?? 'none')
        ctx.set('x-audit-timed', String(total >= overhead))
      },

      close() {
        host.log.info({ aborted: host.signal.aborted }, 'audit closed')
      },
    }
  },
})
