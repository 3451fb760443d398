/** Keeps every call busy on its way in and on its way out. */
import { defineChain, Type } from 'unified-model-gateway/plugin'

export default defineChain({
  apiVersion: 1,
  name: 'slow',
  schema: Type.Object({ inMs: Type.Number(), outMs: Type.Number() }, { additionalProperties: false }),
  create: ({ inMs, outMs }) => ({
    async handle(_, next) {
      work(inMs)
      await next()
      work(outMs)
    },
  }),
})

function work(ms: number): void {
  const end = performance.now() + ms
  while (performance.now() < end);
}
