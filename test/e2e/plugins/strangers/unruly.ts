/** A link that misbehaves as its caller asks. */
import { setImmediate as turn } from 'node:timers/promises'
import { type CallState, type ChatChunk, type ChatCompletion, defineChain, type Link, Type } from 'unified-model-gateway/plugin'

/** What no client and no log may see. */
const FAULT = 'unruly-detail'

type Next = () => Promise<unknown>
type Context = Parameters<Link['handle']>[0]
type Deed = (state: CallState, next: Next, ctx: Context) => unknown

const never = new Promise<never>(() => undefined)

const DEEDS: Readonly<Record<string, Deed>> = {
  'throws an Error at once': () => {
    throw new Error(FAULT)
  },
  'throws an Error later': async () => {
    await null
    throw new Error(FAULT)
  },
  'throws a text': () => {
    throw FAULT
  },
  'throws undefined': async () => {
    throw undefined
  },
  'throws after next': async (_, next) => {
    await next()
    throw new TypeError(FAULT)
  },
  'does nothing': () => undefined,
  'answers by ctx.body': (_, __, ctx) => {
    ctx.body = FAULT
  },
  'answers by ctx.body after next': async (_, next, ctx) => {
    await next()
    ctx.body = FAULT
  },
  'shadows its state': (_, next, ctx) => {
    Object.defineProperty(ctx, 'state', { value: {} })
    return next()
  },
  'writes the reply itself': (_, __, { res }) => void res.writeHead(200).end('mine'),
  'calls next twice': async (_, next) => {
    await next()
    await next()
  },
  'calls next twice and catches': async (_, next) => {
    await next()
    await next().catch(() => undefined)
  },
  hangs: () => never,
  'hangs after next': async (_, next) => {
    await next()
    await never
  },
  'transforms badly': (state, next) => {
    const transform = () => {
      throw new Error(FAULT)
    }
    state.reply.transform({ chunk: transform, completion: transform })
    return next()
  },
  'sends the wrong kind': async (state) => {
    const { stream } = await state.call()
    state.reply.send(stream ? COMPLETION : [CHUNK])
  },
  'sends a promise that rejects': (state) => state.reply.send(Promise.reject(new Error(FAULT)) as never),
  'sends what is neither': async (state) => {
    const { stream } = await state.call()
    state.reply.send((stream ? [42] : {}) as never)
  },
  'sends what throws': async (state) => {
    const { stream } = await state.call()
    state.reply.send(stream ? broken() : (undefined as never))
  },
  'sends what breaks off': (state) => state.reply.send(breakingOff()),
  'transforms badly from the second chunk on': (state, next) => {
    let seen = 0
    state.reply.transform({
      chunk(chunk) {
        if (seen++ > 0) throw new Error(FAULT)
        return { ...chunk, by: 'unruly' }
      },
    })
    return next()
  },
  transforms: (state, next) => {
    state.reply.transform({ chunk: (chunk) => chunk })
    return next()
  },
  'edits too late': async (state, next) => {
    const call = await state.call()
    await next()
    call.edit('/temperature', 1)
  },
  'sends too late': async (state, next) => {
    await next()
    state.reply.send((await state.call()).stream ? [CHUNK] : COMPLETION)
  },
  'transforms too late': async (state, next) => {
    await next()
    state.reply.transform({})
  },
  'calls next after its end': (_, next) => void turn().then(next),
  'settles with an Error': (state, next) => {
    state.onSettled(() => {
      throw new Error(FAULT)
    })
    return next()
  },
  'settles with a rejection': (state, next) => {
    state.onSettled(() => Promise.reject(FAULT))
    return next()
  },
  'never settles': (state, next) => {
    state.onSettled(() => never)
    return next()
  },
  'does not wait for next': (_, next) => void next(),
  'replies and calls next': async (state, next) => {
    state.reply.send((await state.call()).stream ? [CHUNK] : COMPLETION)
    await next()
  },
}

export default defineChain({
  apiVersion: 1,
  name: 'unruly',
  schema: Type.Object({}, { additionalProperties: false }),
  create: () => ({
    handle(ctx, next) {
      const deed = DEEDS[ctx.get('x-deed')] ?? DEEDS['does not wait for next']!
      return deed(ctx.state, next, ctx) as Promise<unknown>
    },
  }),
})

const FACTS = { id: 'chatcmpl-unruly', created: 1, model: 'unruly' }
const COMPLETION = { ...FACTS, object: 'chat.completion', choices: [] } as ChatCompletion
const CHUNK = { ...FACTS, object: 'chat.completion.chunk', choices: [] } as ChatChunk

async function* breakingOff(): AsyncIterable<ChatChunk> {
  yield CHUNK
  // By then the head is out.
  await turn()
  throw new Error(FAULT)
}

async function* broken(): AsyncIterable<ChatChunk> {
  yield CHUNK
  throw new Error(FAULT)
}
