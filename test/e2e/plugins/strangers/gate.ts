/** Holds calls back, each at the place that it names, until the test lets them go. */
import { EventEmitter, once } from 'node:events'
import { type ChatChunk, defineChain, Type } from 'unified-model-gateway/plugin'

/** Tells of calls that have arrived (`arrived`), and that its own answer is read (`read`); waits for word (`go`, and `settle` for its settled hook). */
export const gate: EventEmitter = new EventEmitter()

export default defineChain({
  apiVersion: 1,
  name: 'gate',
  schema: Type.Object({}, { additionalProperties: false }),
  create: (_, host) => ({
    async handle(ctx, next) {
      const { state } = ctx
      if (ctx.get('x-wait') === 'answer') {
        await state.call()
        state.onSettled(() => once(gate, 'settle').then(() => undefined))
      }
      if (ctx.get('x-wait') !== '') {
        gate.emit('arrived', state.id)
        await once(gate, 'go')
        if (ctx.get('x-wait') === 'answer') {
          state.reply.send(answer())
          return
        }
        state.onSettled(({ kind }) => host.log.info({ call: state.id, kind, gone: state.signal.aborted }, 'heard late'))
      }
      await next()
    },
  }),
})

async function* answer(): AsyncIterable<ChatChunk> {
  gate.emit('read')
  yield { id: 'chatcmpl-gate', created: 1, model: 'gate', object: 'chat.completion.chunk', choices: [] }
}
