import { type Static, Type } from 'typebox'
import { secret } from '../../sdk/secrets.ts'
import { type CuratedModels, curatedModels } from './curated-models.ts'
import { defaulted, duration, globs, NAME, pluginConfig, rate } from './fields.ts'
import { stickyTo } from './sticky.ts'

const timeouts = Type.Object(
  {
    connect: defaulted(duration('To open a connection to the upstream.', '10s')),
    firstByte: defaulted(
      duration('From the request sent to the first byte of the reply: reasoning models may need minutes.', '5m'),
    ),
    idle: defaulted(duration('Between two pieces of a reply.', '2m')),
    total: defaulted(duration('For the whole call.', '15m')),
  },
  { default: {}, description: 'How long a call to this upstream may take.' },
)

const concurrency = Type.Object(
  {
    limit: Type.Integer({ minimum: 1, description: 'Calls under way at once.', examples: [20] }),
    queue: Type.Optional(
      Type.Integer({ minimum: 0, description: 'Calls that may wait for a place. Absent: as many as `limit`.' }),
    ),
    wait: defaulted(duration('How long a call waits for a place before another target is tried, or the call fails.', '5s')),
  },
  { description: 'Limits the concurrent calls of each process to this upstream. Absent: no limit.' },
)

const limits = Type.Object(
  {
    requests: Type.Optional(
      rate('Attempts per s, min, h, d or month; a month is one of the calendar, in UTC.', ['500/min', '10k/day']),
    ),
    tokens: Type.Optional(rate('Prompt and answer tokens, in the same way.', ['2M/min', '100M/month'])),
    concurrent: Type.Optional(Type.Integer({ minimum: 1, description: 'Attempts under way at once.', examples: [50] })),
    wait: defaulted(duration('How long a call may wait for the limits if no other target is left.', '5s')),
  },
  { description: 'What all calls, processes and gateways together may use of this upstream. Absent: no limit.' },
)

const pem = (description: string, example: string) =>
  Type.String({
    title: 'the text of certificates in PEM',
    pattern: '-----BEGIN CERTIFICATE-----',
    description,
    examples: [`\${file:${example}}`],
  })

const tls = Type.Object(
  {
    ca: Type.Optional(
      pem('The certificates that the upstream is trusted by, instead of those that Node trusts.', '/etc/umg/ca.pem'),
    ),
    cert: Type.Optional(pem('The certificate that the upstream asks for, and then its chain.', '/etc/umg/client.pem')),
    key: Type.Optional(
      Type.Unsafe<Static<ReturnType<typeof secret>>>({
        ...secret({ description: 'The private key of `cert`.' }),
        title: 'the text of a private key in PEM',
        examples: [`\${file:/etc/umg/client.key}`],
        pattern: '-----BEGIN [A-Z ]*PRIVATE KEY-----',
      }),
    ),
  },
  { minProperties: 1, description: 'How the gateway connects to an https upstream.' },
)

/** The validated value of `tls`. */
export type TlsValues = Static<typeof tls>

/** By name, the fields of the provider's config in which the credentials differ. */
const credentials = Type.Record(Type.String(), Type.Record(Type.String(), Type.Unknown(), { minProperties: 1 }), {
  minProperties: 1,
  propertyNames: { ...NAME, examples: ['team-a'] },
  description:
    'Several credentials that share the calls, by their names, each with its own fields of `config`. Absent: the one in `config`.',
  examples: [{ first: { apiKey: `\${env:OPENAI_KEY_1}` }, second: { apiKey: `\${env:OPENAI_KEY_2}` } }],
})

const allowList = globs({ description: 'The models that clients may call.', examples: [['gpt-5.5', 'o4-*']] })

/** With a provider, a list of allowed models; without, a map of curated models. */
const models = Type.Unsafe<readonly string[] | CuratedModels>({
  type: ['array', 'object'],
  if: { type: 'array' },
  // biome-ignore lint/suspicious/noThenProperty: JSON Schema's keyword
  then: allowList,
  else: curatedModels,
  description:
    'With a provider, the list of models that clients may call; `*` matches any characters. Absent: any model. ' +
    'Without a provider, a map of curated models.',
  examples: [['gpt-5.5', 'o4-*'], { smart: { targets: [{ model: 'openai/gpt-5.5' }] } }],
})

/** An entry of `namespaces`: an upstream, or, without a provider, curated models over other namespaces. */
export const namespace = Type.Object({
  provider: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'The plugin that speaks to the upstream: a built-in name, an npm package, or a path relative to this file. ' +
        'Absent: the namespace holds curated models.',
      examples: ['openai-compatible', 'anthropic', 'sandbox'],
    }),
  ),
  config: pluginConfig,
  credentials: Type.Optional(credentials),
  models: Type.Optional(models),
  timeouts: defaulted(timeouts),
  testKeys: defaulted(
    Type.Enum(['sandbox', 'upstream'], {
      default: 'sandbox',
      description: 'What answers a call with a test key: `sandbox`, which costs nothing, or `upstream`.',
    }),
  ),
  addresses: Type.Optional(
    globs({
      description:
        'Addresses in calls (of pictures, files, sound and tool servers) that the upstream may fetch for clients, by globs, in addition ' +
        'to those of public web servers. `*` allows any.',
      examples: [['https://pictures.internal/*', 'gs://our-pictures/*']],
    }),
  ),
  keptObjects: defaulted(
    Type.Enum(['refuse', 'allow'], {
      default: 'refuse',
      description:
        'Whether calls may refer to files, conversations, prompts, containers and the like that the upstream keeps, `refuse` or `allow`: all callers share its credential, and with it all of them.',
    }),
  ),
  keepReasoning: defaulted(
    Type.Boolean({
      default: true,
      description:
        'Whether the gateway keeps, sealed and for four hours, the reasoning that led to tool calls, for clients of chat completions that do not send it back.',
    }),
  ),
  sticky: stickyTo('credential', 'the credentials take turns'),
  breaker: defaulted(
    Type.Boolean({
      default: true,
      description: 'Whether a circuit breaker stops the calls to a model of this upstream for a while after repeated failures.',
    }),
  ),
  concurrency: Type.Optional(concurrency),
  limits: Type.Optional(limits),
  tls: Type.Optional(tls),
  hostedTools: Type.Optional(
    Type.Array(Type.String({ minLength: 1, description: 'The type of a tool, without the date at its end.' }), {
      description:
        'The tools that calls may let the vendor run, such as searches of the web: all others are refused. ' +
        'Absent: callers with a budget may use none, all others may use any.',
      examples: [['web_search', 'code_interpreter']],
    }),
  ),
  optional: defaulted(
    Type.Boolean({
      default: false,
      description: 'Leaves the namespace out, with a notice, while a variable or file that it refers to is not set.',
    }),
  ),
})

/** The fields of a namespace that configure its upstream: a namespace with curated models has none of them. */
export const UPSTREAM_FIELDS = [
  'config',
  'credentials',
  'timeouts',
  'testKeys',
  'addresses',
  'keptObjects',
  'keepReasoning',
  'sticky',
  'breaker',
  'concurrency',
  'limits',
  'tls',
  'hostedTools',
  'optional',
] as const
