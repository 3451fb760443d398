import { type Static, Type } from 'typebox'
import { secret } from '../../sdk/secrets.ts'
import { defaulted, globs } from './fields.ts'

const key = Type.Unsafe<Static<ReturnType<typeof secret>>>({
  ...secret({ description: 'A text that only the gateways of this database have: `openssl rand -base64 32` makes one.' }),
  title: 'a text of at least 32 characters',
  minLength: 32,
  examples: [`\${env:UMG_RESPONSES_KEY}`],
})

/** Whose replies of `/v1/responses` the gateway keeps. */
export const keepResponses = Type.Object(
  {
    keys: Type.Array(key, {
      minItems: 1,
      maxItems: 8,
      uniqueItems: true,
      description:
        'The keys with which kept responses are encrypted: the first one encrypts, all decrypt. To replace a key, put the new one before it, and remove the old one when what it encrypted has expired.',
      examples: [[`\${env:UMG_RESPONSES_KEY}`, `\${env:UMG_RESPONSES_KEY_BEFORE}`]],
    }),
    days: defaulted(
      Type.Integer({ minimum: 1, maximum: 365, default: 30, description: 'How long a response is kept.', examples: [30] }),
    ),
    accounts: defaulted(
      globs({
        default: ['*'],
        description: 'The accounts whose responses are kept; `*` matches any characters. Absent: all.',
        examples: [['research', 'team-*']],
      }),
    ),
  },
  {
    description:
      'Keeps the conversations of `/v1/responses` for clients that refer to them, whichever provider serves them. Absent: none is kept.',
  },
)

/** The validated value of `keepResponses`. */
export type KeepResponsesValues = Static<typeof keepResponses>
