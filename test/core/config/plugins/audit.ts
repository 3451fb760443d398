import { defineChain, Type } from 'unified-model-gateway/plugin'

/** A link with a setting of every common kind. Its schema does not close its maps. */
export default defineChain({
  apiVersion: 1,
  name: 'audit',
  schema: Type.Object({
    sink: Type.String({ description: 'Where lines go.', examples: ['stdout'] }),
    level: Type.Optional(Type.Enum(['terse', 'full'], { default: 'terse' })),
    sample: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
    fields: Type.Optional(Type.Array(Type.String(), { minItems: 1, uniqueItems: true })),
    rotate: Type.Optional(
      Type.Union([
        Type.Literal(false),
        Type.Object({ lines: Type.Integer({ exclusiveMinimum: 0 }), keep: Type.Optional(Type.Integer()) }),
      ]),
    ),
    mode: Type.Optional(Type.Union([Type.Literal('append'), Type.Literal('replace')])),
  }),
  create: () => ({ handle: (_ctx, next) => next() }),
})
