import { type Static, Type } from 'typebox'

const names = (description: string, example: string, refersTo?: string) =>
  Type.Optional(
    Type.Array(Type.String({ minLength: 1, ...(refersTo !== undefined && { refersTo }) }), {
      minItems: 1,
      uniqueItems: true,
      description,
      examples: [[example]],
    }),
  )

const values = (description: string, example: Readonly<Record<string, string>>, name: Readonly<Record<string, unknown>>) =>
  Type.Optional(
    Type.Record(Type.String(), Type.String({ minLength: 1 }), {
      minProperties: 1,
      propertyNames: name,
      description,
      examples: [example],
    }),
  )

/** Which calls pass a link. */
export const when = Type.Object(
  {
    namespaces: names('Only calls to these namespaces; aliases are resolved first.', 'openai'),
    endpoints: Type.Optional(
      Type.Array(Type.Enum(['chat.completions', 'embeddings', 'messages', 'messages.count_tokens', 'models', 'responses']), {
        minItems: 1,
        uniqueItems: true,
        description:
          'Only calls of these endpoints: `chat.completions`, `embeddings`, `messages`, `messages.count_tokens`, `models`, `responses`.',
        examples: [['chat.completions', 'messages']],
      }),
    ),
    accounts: names('Only calls by keys of these accounts.', 'research'),
    keys: names(
      'Only calls by these keys: ids, or `routes:NAME` for the key NAME of this file.',
      'routes:nightly',
      'key of this file',
    ),
    tags: values('Only calls that have all these tags, by their key, its account, or a link above.', { team: 'search' }, {}),
    headers: values(
      'Only requests with all these headers. Names are in lower case; a credential is not allowed.',
      { 'x-beta': '1' },
      {
        title: 'a header name in lower case, and none of a credential',
        pattern: '^(?!(authorization|cookie|proxy-authorization|x-api-key)$)[a-z0-9-]+$',
      },
    ),
  },
  { minProperties: 1, description: 'Which calls pass the link: those that fit all its fields. Absent: every call.' },
)

/** Which calls pass a link, valid. */
export type When = Static<typeof when>
