/** Fields of the rows about calls. */
import { Type } from 'typebox'
import { namedOrNull, time } from './fields.ts'

const textOrNull = (description: string) => Type.Union([Type.String(), Type.Null()], { description })
/** Whose doing something was. */
export const faultOf = Type.Enum(['caller', 'policy', 'upstream', 'gateway'])

const target = {
  namespace: Type.String(),
  model: Type.String({ description: 'What the upstream calls it.' }),
  provider: Type.String(),
}

/** A call, without its content. */
export const request = Type.Object({
  id: Type.String({ description: "The reply's `x-request-id`." }),
  at: time('When it came.'),
  key: namedOrNull,
  account: namedOrNull,
  endpoint: Type.String(),
  model: textOrNull('The model asked for, aliases resolved; null where the call ended before that was known.'),
  served: Type.Union([Type.Object(target), Type.Null()], { description: 'Who gave the reply.' }),
  stream: Type.Boolean(),
  status: Type.Integer({ description: 'The HTTP status sent; 499 where the client left first.' }),
  outcome: Type.String(),
  fault: Type.Union([faultOf, Type.Null()], { description: 'Whose doing it was that the call did not succeed.' }),
  error: Type.Union([
    Type.Object({ code: textOrNull('What the client read in `error.code`.'), row: Type.String({ description: 'Its name.' }) }),
    Type.Null(),
  ]),
  attempts: Type.Array(
    Type.Object({ ...target, result: Type.String({ description: '`ok`, or the name of an error.' }), ms: Type.Number() }),
  ),
  links: Type.Array(
    Type.Object({
      name: Type.String({ description: "The plugin's name." }),
      ms: Type.Number({ description: 'Of its own: what stands behind it in the chain is left out.' }),
    }),
    { description: "The links that had their turn, in the chain's order." },
  ),
  ms: Type.Object({
    total: Type.Number(),
    first_byte: Type.Union([Type.Number(), Type.Null()], { description: 'To the first byte of content.' }),
    overhead: Type.Number({ description: 'In the gateway itself, until the head of the reply.' }),
  }),
  tokens: Type.Union([
    Type.Object({
      input: Type.Integer(),
      output: Type.Integer(),
      cached: Type.Integer({ description: 'Of the input.' }),
      reasoning: Type.Integer({ description: 'Of the output.' }),
      estimated: Type.Boolean({ description: 'True where the upstream did not say them.' }),
    }),
    Type.Null(),
  ]),
  tags: Type.Record(Type.String(), Type.String()),
})
