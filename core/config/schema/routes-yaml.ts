import { type Static, Type } from 'typebox'
import { budgetField, budgets } from './budgets.ts'
import { DEFAULT_ACCOUNT } from './default-account.ts'
import { assumedCause, defaulted, globs, NAME, pluginConfig } from './fields.ts'
import { keepResponses } from './keep-responses.ts'
import { namespace } from './namespace.ts'
import { prices } from './prices.ts'
import { when } from './when.ts'

const end = (description: string) =>
  Type.String({
    title: 'a model id of an upstream, or the name of an error',
    minLength: 1,
    description,
    examples: ['openai/gpt-5.5', 'upstream_timeout'],
  })

const expectation = Type.Object({
  failing: Type.Optional(
    Type.Record(Type.String(), assumedCause, {
      minProperties: 1,
      description: 'The namespaces, or models of them, that fail or are at their limits, each with its cause. Absent: none.',
      examples: [{ openai: '5xx', 'claude/claude-sonnet-5': 'timeout' }],
    }),
  ),
  to: end('The upstream model that then serves the calls, or the error that ends them.'),
})

/** The expectations that `umg routes test` checks. */
const expectations = Type.Record(
  Type.String(),
  Type.Unsafe<string | readonly Static<typeof expectation>[]>({
    type: ['string', 'array'],
    if: { type: 'string' },
    // biome-ignore lint/suspicious/noThenProperty: JSON Schema's keyword
    then: end('The upstream model that serves the calls if nothing fails, or the error that ends them.'),
    else: Type.Array(expectation, { minItems: 1 }),
  }),
  {
    default: {},
    description: 'What should serve the calls, by the model name that clients use: `umg routes test` checks it.',
    examples: [{ 'acme/smart': 'openai/gpt-5.5' }],
  },
)

const link = Type.Object({
  plugin: Type.String({
    minLength: 1,
    description: 'A built-in name, an npm package, or a path relative to this file.',
    examples: ['auth', './my-audit.ts'],
  }),
  config: pluginConfig,
  when: Type.Optional(when),
})

const tags = (description: string) =>
  defaulted(
    Type.Record(
      Type.String(),
      Type.String({
        title: 'a text of 1 to 100 characters',
        pattern: '^[^\\p{C}\\p{Zl}\\p{Zp}\\p{Default_Ignorable_Code_Point}]{1,100}$',
      }),
      {
        default: {},
        maxProperties: 10,
        propertyNames: { ...NAME, examples: ['team'] },
        description,
        examples: [{ team: 'research' }],
      },
    ),
  )

const account = Type.Object({
  models: defaulted(
    globs({
      default: ['*'],
      description: 'The model ids that its keys may call; `*` matches any characters. Absent: all models.',
      examples: [['openai/*']],
    }),
  ),
  class: Type.Optional(
    Type.String({
      minLength: 1,
      refersTo: 'rate class',
      description: 'The rate class of its keys that have none of their own. Absent: the default one.',
      examples: ['batch'],
    }),
  ),
  tags: tags('Labels of the calls of its keys, for usage.'),
  budget: Type.Optional(
    budgetField(
      'What all its keys together may spend, in US dollars per day, week or month; several are a list. Absent: no budget.',
    ),
  ),
})

const key = Type.Object({
  name: Type.String({ minLength: 1, description: 'The name of the key in logs and metrics.', examples: ['nightly'] }),
  hash: Type.String({
    title: 'the SHA-256 of the whole key',
    pattern: '^sha256:[0-9a-fA-F]{64}$',
    description: 'The hash of the key, which itself is not stored: `sha256:` and 64 hexadecimal digits.',
    examples: [`sha256:${'0123456789abcdef'.repeat(4)}`],
  }),
  kind: Type.Enum(['live', 'test'], {
    description: '`live`, or `test`: calls with a test key are answered by the sandbox.',
    examples: ['live'],
  }),
  account: defaulted(
    Type.String({
      minLength: 1,
      default: DEFAULT_ACCOUNT,
      description: 'The account that owns the key: one under `accounts`, or `default`.',
      examples: ['research'],
    }),
  ),
  models: globs({
    description: 'The model ids that the key may call, of those of its account; `*` matches any characters.',
    examples: [['openai/*']],
  }),
  class: Type.Optional(
    Type.String({
      minLength: 1,
      refersTo: 'rate class',
      description: "The key's rate class. Absent: that of its account, or else the default one.",
      examples: ['batch'],
    }),
  ),
  tags: tags('Labels of its calls, for usage, besides those of its account.'),
  expires: Type.Optional(
    Type.String({
      title: 'a date or an instant',
      format: 'instant',
      description: 'When the key stops working; a date means its first moment, in UTC.',
      examples: ['2027-01-31', '2027-01-31T12:00:00Z'],
    }),
  ),
  budget: Type.Optional(
    budgetField('What the key may spend, in US dollars per day, week or month; several are a list. Absent: no budget.'),
  ),
})

/**
 * The schema of routes.yaml. Its validation, its type, the help of editors and the tables of docs/routes.md are made from it. A `title`
 * is the name of the value in error messages. The schema of a plugin checks the plugin's `config`, and `closed` closes every map.
 */
export const routesSchema = Type.Object({
  version: Type.Literal(1, { description: 'The version of this format.' }),
  chain: defaulted(
    Type.Array(link, {
      default: [],
      description: 'The links that every call passes, from top to bottom; its reply passes them from bottom to top.',
    }),
  ),
  namespaces: Type.Record(Type.String(), namespace, {
    propertyNames: {
      title: 'a name of lower-case letters, digits, dots, dashes and underscores',
      pattern: '^[a-z0-9][a-z0-9._-]*$',
      examples: ['openai', 'my-models'],
    },
    description: 'What clients call: `<namespace>/<model>`.',
    examples: [{ sandbox: { provider: 'sandbox' } }],
  }),
  aliases: defaulted(
    Type.Record(Type.String(), Type.String({ title: 'a model id', pattern: '^[^/]+/.+$', examples: ['openai/gpt-5.5'] }), {
      default: {},
      propertyNames: {
        title: 'a bare name, without slashes, spaces and asterisks',
        pattern: '^[^/\\s*]+$',
        examples: ['gpt-4o'],
      },
      description: 'Bare names that clients hard-code, each with its `<namespace>/<model>`.',
    }),
  ),
  accounts: defaulted(
    Type.Record(Type.String(), account, {
      default: {},
      propertyNames: {
        title: 'a name of letters, digits, dots, dashes and underscores',
        pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$',
        examples: ['research'],
      },
      description: 'Accounts, which own keys: what the keys of each may call. Others come from the database.',
      examples: [{ research: { models: ['openai/*'] } }],
    }),
  ),
  keys: defaulted(
    Type.Array(key, {
      default: [],
      description: 'API keys that this file declares by their hash. Others come from the key store.',
    }),
  ),
  prices: defaulted(prices),
  budgets: defaulted(budgets),
  keepResponses: Type.Optional(keepResponses),
  expect: defaulted(expectations),
})
