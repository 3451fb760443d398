import { AsyncResource } from 'node:async_hooks'
import { defineChain, Type } from 'unified-model-gateway/plugin'

/** What was never given back. */
const leaked: Buffer[] = []

/** Bytes of each leak. */
const LEAK = 16 << 20

/** What the link does, by the value of the header `x-deed`. All of it is outside of the promise that core awaits, or holds up the loop. */
const DEEDS: Readonly<Record<string, () => void>> = {
  reject: () => void setTimeout(() => void Promise.reject(new Error('unawaited')), 1),
  timer: () =>
    void setTimeout(() => {
      throw new Error('in a timer')
    }, 1),
  // In the context of the module: of no call.
  outside: AsyncResource.bind(
    () =>
      void setTimeout(() => {
        throw new Error('outside of any call')
      }, 1),
  ),
  pause: () => block(3_000),
  hang: () => block(Number.POSITIVE_INFINITY),
  leak: () => void leaked.push(Buffer.alloc(LEAK, 1)),
}

function block(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}

/** A link with all the faults that a plugin can have. */
export default defineChain({
  apiVersion: 1,
  name: 'hostile',
  schema: Type.Object({}),
  create: () => ({
    handle(ctx, next) {
      DEEDS[ctx.get('x-deed')]?.()
      return next()
    },
  }),
})
