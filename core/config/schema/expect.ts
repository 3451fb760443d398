import { type Static, Type } from 'typebox'
import { cause } from './fields.ts'

const end = (description: string) =>
  Type.String({
    title: 'a model id of an upstream, or the name of an error',
    minLength: 1,
    description,
    examples: ['openai/gpt-5.5', 'upstream_timeout'],
  })

const expectation = Type.Object({
  failing: Type.Optional(
    Type.Record(Type.String(), cause, {
      minProperties: 1,
      description: 'Which namespaces, or models of them, fail, and how. Absent: none.',
      examples: [{ openai: '5xx', 'claude/claude-sonnet-5': 'timeout' }],
    }),
  ),
  to: end('Where calls then end.'),
})

/** `expect`: what `umg routes test` holds the table against. */
export const expectations = Type.Record(
  Type.String(),
  Type.Unsafe<string | readonly Static<typeof expectation>[]>({
    type: ['string', 'array'],
    if: { type: 'string' },
    // biome-ignore lint/suspicious/noThenProperty: JSON Schema's keyword
    then: end('Where calls end when nothing fails.'),
    else: Type.Array(expectation, { minItems: 1 }),
  }),
  {
    default: {},
    description: 'Where calls should end, by the name that clients use: `umg routes test` holds the table against it.',
    examples: [{ 'acme/smart': 'openai/gpt-5.5' }],
  },
)
