import { defineChain, Type } from 'unified-model-gateway/plugin'

/** Accepts any value. */
export default defineChain({
  apiVersion: 1,
  name: 'any',
  schema: Type.Object({ value: Type.Unknown() }),
  create: () => ({ handle: (_ctx, next) => next() }),
})
