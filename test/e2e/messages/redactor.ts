/** A link that notes what it sees, redacts requests and replies, and answers by itself, as the last message says. */
export const REDACTOR = `
import { defineChain, Type } from 'unified-model-gateway/plugin'
const completion = (content) => ({ id: 'chatcmpl-own', object: 'chat.completion', created: 1, model: 'own', choices: [{ index: 0, message: { role: 'assistant', content, refusal: null }, finish_reason: 'stop', logprobs: null }] })
const chunk = (delta, finish_reason = null) => ({ id: 'chatcmpl-own', object: 'chat.completion.chunk', created: 1, model: 'own', choices: [{ index: 0, delta, finish_reason }] })
export default defineChain({
  apiVersion: 1, name: 'redactor', schema: Type.Object({}),
  create: () => ({
    async handle(ctx, next) {
      const { state } = ctx
      const call = await state.call()
      const last = call.body.messages.at(-1).content
      ctx.set('x-seen', JSON.stringify([state.endpoint, call.endpoint, call.keys, call.member('max_completion_tokens'), last]))
      if (last === 'own') return state.reply.send(call.stream ? [chunk({ role: 'assistant', content: 'own ' }), chunk({ content: 'words' }, 'stop')] : completion('own words'))
      if (last === 'secret') call.edit('/messages/' + (call.body.messages.length - 1) + '/content', '…')
      if (last === 'hush') state.reply.transform({
        chunk: (one) => ({ ...one, choices: one.choices.map((choice) => ({ ...choice, delta: { ...choice.delta, ...(choice.delta.content && { content: 'x'.repeat(choice.delta.content.length) }) } })) }),
        completion: (one) => ({ ...one, choices: one.choices.map((choice) => ({ ...choice, message: { ...choice.message, content: 'xx' } })) }),
      })
      await next()
    },
  }),
})`
