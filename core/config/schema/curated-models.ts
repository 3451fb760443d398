import { type Static, Type } from 'typebox'
import { cause, defaulted, duration } from './fields.ts'
import { stickyTo } from './sticky.ts'

const modelName = Type.String({
  title: 'a model id or an alias',
  pattern: '^[^\\s*]+$',
  description: 'The `<namespace>/<model>` of an upstream model or a curated model in this file, or an alias.',
  examples: ['openai/gpt-5.5'],
})

const target = Type.Object(
  {
    model: modelName,
    weight: defaulted(
      Type.Number({
        minimum: 0,
        default: 1,
        description: 'Its share of the calls, relative to the weights of the other targets.',
      }),
    ),
  },
  { title: 'a target', examples: [{ model: 'openai/gpt-5.5', weight: 80 }] },
)

const retry = Type.Object(
  {
    attempts: defaulted(Type.Integer({ minimum: 1, default: 3, description: 'The most attempts, the first one included.' })),
    on: Type.Optional(
      Type.Array(cause, {
        minItems: 1,
        uniqueItems: true,
        description: 'The failures after which the next target is tried. Absent: all of them.',
        examples: [['connect', 'timeout', 429, '5xx']],
      }),
    ),
  },
  { default: {}, description: 'What happens when a target fails.' },
)

const timeouts = Type.Object(
  {
    connect: Type.Optional(duration('To open a connection to the upstream.')),
    firstByte: Type.Optional(duration('From the request sent to the first byte of the reply.')),
    idle: Type.Optional(duration('Between two pieces of a reply.')),
    total: Type.Optional(duration('For the whole call, all attempts together.')),
  },
  { default: {}, description: 'How long calls of this model may take: these replace the timeouts of its targets.' },
)

/** A curated model: the targets and fallbacks behind its name, and how they are chosen. */
const route = Type.Object({
  targets: Type.Array(target, { minItems: 1, description: 'The models that share the calls, by weight.' }),
  fallbacks: defaulted(
    Type.Array(modelName, { default: [], description: 'The models that are tried in this order when the targets fail.' }),
  ),
  choose: defaulted(
    Type.Enum(['weight', 'latency', 'busy'], {
      default: 'weight',
      description:
        'How a target is chosen: `weight`, by weights; `latency`, the fastest to its first byte; `busy`, the one with the fewest calls under way.',
    }),
  ),
  sticky: stickyTo('target', 'a target is chosen by the weights'),
  retry: defaulted(retry),
  defaults: defaulted(
    Type.Record(Type.String(), Type.Unknown(), {
      default: {},
      propertyNames: {
        title: 'a parameter other than model, messages, stream and stream_options',
        pattern: '^(?!(model|messages|stream|stream_options)$)',
        examples: ['temperature'],
      },
      description: 'Parameters that are filled in if the client does not send them.',
      examples: [{ temperature: 0.2 }],
    }),
  ),
  timeouts: defaulted(timeouts),
  strict: defaulted(
    Type.Boolean({
      default: false,
      description:
        'Refuses a call with a parameter that the provider would drop. Without it, the parameter is dropped and named in the reply.',
    }),
  ),
})

/** The fields of a curated model. */
export const ROUTE_FIELDS: readonly string[] = Object.keys(route.properties)

/** The curated models of a namespace, by the part of their ids after the slash. */
export const curatedModels = Type.Record(Type.String(), route, {
  minProperties: 1,
  propertyNames: { title: 'a model name, without spaces and asterisks', pattern: '^[^\\s*]+$', examples: ['smart'] },
  description: 'Curated models: names for models of other namespaces.',
})

/** The curated models of a namespace, valid. */
export type CuratedModels = Static<typeof curatedModels>
