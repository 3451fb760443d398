/** A link that loses errors and promises as its caller asks: nothing awaits them. */
import { setImmediate as turn } from 'node:timers/promises'
import { type CallState, type ChatChunk, defineChain, type Host, Type } from 'unified-model-gateway/plugin'

/** What no client and no log may see. */
const FAULT = 'forgetful-detail'

interface Doing {
  readonly state: CallState
  readonly next: () => Promise<unknown>
  readonly host: Host
}

const throws = () => {
  throw new Error(FAULT)
}
const rejects = async () => {
  await turn()
  throw new Error(FAULT)
}

const DEEDS: Readonly<Record<string, (doing: Doing) => unknown>> = {
  'loses nothing': ({ next }) => next(),
  'throws in a timer': ({ next }) => {
    setTimeout(throws, 1)
    return next()
  },
  'awaits no rejection': ({ next }) => {
    void rejects()
    return next()
  },
  'awaits no rejection of the host': ({ next, host }) => {
    void host.getJson('http://127.0.0.1:1/', { headers: {}, signal: host.signal })
    return next()
  },
  'awaits no rejection where the host calls it': async ({ state, next, host }) => {
    const scopes = [{ subject: 'forgetful', limits: {} }]
    const onBody = () => void rejects()
    await host.limits.reserveFor({ state, request: {} }, { scopes, onBody, refusal: () => new Error(FAULT) })
    return next()
  },
  'waits for a timer that throws': () => new Promise(() => setTimeout(throws, 1)),
  'loses it in a transform': ({ state, next }) => {
    state.reply.transform({
      chunk(chunk) {
        if (chunk.choices[0]?.delta.content) void rejects()
        return chunk
      },
    })
    return next()
  },
  'loses it while it sends': async ({ state }) => {
    state.reply.send(loseBetweenChunks(state))
  },
  'loses it once the call is over': ({ state, next }) => {
    state.onSettled(() => void rejects())
    return next()
  },
}

async function* loseBetweenChunks({ signal }: CallState): AsyncIterable<ChatChunk> {
  yield {
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta: { content: 'Hi' }, finish_reason: null }],
  }
  void rejects()
  await new Promise((resolve) => signal.addEventListener('abort', resolve))
}

export default defineChain({
  apiVersion: 1,
  name: 'forgetful',
  schema: Type.Object({}, { additionalProperties: false }),
  create: (_, host) => ({
    handle(ctx, next) {
      const deed = DEEDS[ctx.get('x-deed')] ?? DEEDS['loses nothing']!
      return deed({ state: ctx.state, next, host }) as Promise<void>
    },
  }),
})
