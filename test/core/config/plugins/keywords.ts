import { defineChain, Type } from 'unified-model-gateway/plugin'

/** A link whose schema uses the keywords that the other test plugins do not use. */
export default defineChain({
  apiVersion: 1,
  name: 'keywords',
  schema: Type.Object(
    {
      short: Type.Optional(Type.String({ maxLength: 3 })),
      long: Type.Optional(Type.String({ minLength: 3 })),
      pattern: Type.Optional(Type.String({ pattern: '^a+$' })),
      rate: Type.Optional(Type.String({ pattern: '^\\d+/min$', examples: ['60/min'] })),
      expires: Type.Optional(Type.String({ format: 'instant' })),
      below: Type.Optional(Type.Number({ exclusiveMaximum: 10 })),
      tens: Type.Optional(Type.Number({ multipleOf: 10 })),
      pair: Type.Optional(Type.Array(Type.String(), { minItems: 2, maxItems: 2 })),
      none: Type.Optional(Type.Object({}, { additionalProperties: Type.String(), minProperties: 1 })),
      two: Type.Optional(Type.Object({}, { additionalProperties: Type.String(), minProperties: 2, maxProperties: 3 })),
      named: Type.Optional(Type.Record(Type.String({ pattern: '^[a-z]+$' }), Type.Number(), { additionalProperties: false })),
      colour: Type.Optional(Type.Enum(['red', 'orange', 'yellow', 'green', 'blue', 'violet'])),
      either: Type.Optional(Type.Unsafe({ oneOf: [{ type: 'string', title: 'a name' }, { type: 'array' }] })),
      other: Type.Optional(Type.Unsafe({ not: { type: 'string' } })),
      first: Type.Optional(Type.String()),
      second: Type.Optional(Type.String()),
    },
    { dependentRequired: { first: ['second'] } },
  ),
  create: () => ({ handle: (_ctx, next) => next() }),
})
