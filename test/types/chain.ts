/** What the compiler says to the author of a chain plugin. Compiled, never run. */
import { type CallState, type ChainPlugin, defineChain, type Host, type Outcome, Type } from 'unified-model-gateway/plugin'

const nothing = Type.Object({})
const minimal = { apiVersion: 1, name: 'mine', schema: nothing } as const

// The configuration has the type of its schema.
defineChain({
  apiVersion: 1,
  name: 'mine',
  schema: Type.Object({ limit: Type.Integer(), note: Type.Optional(Type.String()) }),
  create({ limit, note }) {
    limit.toFixed()
    // @ts-expect-error: it may be absent
    note.length
    return { handle: (_, next) => next() }
  },
})

// @ts-expect-error: a link must be made
defineChain({ ...minimal, create: () => undefined })
// @ts-expect-error: a link has a handle
defineChain({ ...minimal, create: () => ({ handel: () => undefined }) })
// @ts-expect-error: of another version of the plugin API
defineChain({ ...minimal, apiVersion: 2, create: () => ({ handle: () => undefined }) })
// @ts-expect-error: without a name
defineChain({ apiVersion: 1, schema: nothing, create: () => ({ handle: () => undefined }) })

/** A link may close in its own time. */
export const plugin: ChainPlugin = defineChain({
  ...minimal,
  create: async () => ({ handle: (_, next) => next(), close: async () => undefined }),
})

/** What a link finds in `ctx.state`. */
export async function handle(state: CallState, outcome: Outcome, host: Host): Promise<void> {
  // @ts-expect-error: before auth there is nobody
  state.principal.name
  // @ts-expect-error: nobody has served the call yet, or nobody will
  state.served.model
  // @ts-expect-error: the body is read when it is asked for
  state.call().model
  // @ts-expect-error: tags are texts
  state.tags.cost = 1
  // @ts-expect-error: the request id is core's
  state.id = 'mine'
  // @ts-expect-error: attempts are told, not made up
  state.attempts.push()

  const call = await state.call()
  call.edit('/temperature', 0)
  // @ts-expect-error: the body is changed by edit
  call.body.temperature = 0
  // @ts-expect-error: where a call goes is not for links to change
  call.model.model = 'other'

  // @ts-expect-error: a text is neither a completion nor chunks
  state.reply.send('Hello')
  // @ts-expect-error: a chunk is dropped by undefined
  state.reply.transform({ chunk: () => null })
  // @ts-expect-error: transforms are synchronous
  state.reply.transform({ chunk: async (chunk) => chunk })

  // @ts-expect-error: kinds are few
  if (outcome.kind === 'failed') return
  // @ts-expect-error: where no upstream took the call, nothing was used
  outcome.usage.total_tokens

  host.metrics.counter('mine_total', 'Mine.', ['team']).add(1, 'red')
  // @ts-expect-error: the amount comes before the labels
  host.metrics.counter('mine_total', 'Mine.', ['team']).add('red')
  // @ts-expect-error: what happened is a text of its own
  host.log.info('it happened')
  const scopes = [{ subject: 'mine/red', limits: { concurrent: 1 } }]
  // @ts-expect-error: a refused call has an error
  await host.limits.reserveFor({ state, request: {} }, { scopes })
  // @ts-expect-error: the gateway settles it
  ;(await host.limits.reserveFor({ state, request: {} }, { scopes, refusal: () => new Error('no') })).settle(0)
  // @ts-expect-error: what a thread gives back is anybody's guess
  const digest: string = await host.offload(new URL('x:'), 'digest', 1)
  return void digest
}
