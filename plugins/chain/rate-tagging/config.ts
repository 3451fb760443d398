import { type Static, Type } from 'unified-model-gateway/plugin'
import { RATE } from './rate.ts'

const NAME = '^[A-Za-z0-9][A-Za-z0-9_-]*$'
/** What Prometheus takes as a label. */
const TAG_NAME = '^[a-z][a-z0-9_]*$'

const RateClass = Type.Object(
  {
    requests: Type.Optional(
      Type.String({ pattern: RATE, description: 'Calls per s, min, h or d.', examples: ['60/min', '10k/day'] }),
    ),
    tokens: Type.Optional(
      Type.String({
        pattern: RATE,
        description: 'Prompt and answer tokens per s, min, h or d.',
        examples: ['100k/min', '5M/day'],
      }),
    ),
    concurrent: Type.Optional(Type.Integer({ minimum: 1, description: 'Calls under way at once.', examples: [10] })),
  },
  { additionalProperties: false, description: 'What each key of the class may use. What is not named is not limited.' },
)

/** The configuration of rate-tagging. */
export const Config = Type.Object(
  {
    classes: Type.Record(Type.String({ pattern: NAME }), RateClass, {
      additionalProperties: false,
      minProperties: 1,
      declares: 'rate class',
      description: 'The rate classes. A key names its class; its budgets are its own.',
    }),
    default: Type.String({
      refersTo: 'rate class',
      description: 'The class of the keys that name none.',
      examples: ['standard'],
    }),
    tags: Type.Optional(
      Type.Record(Type.String({ pattern: TAG_NAME }), Type.String({ minLength: 1 }), {
        additionalProperties: false,
        description:
          'Labels of the call in the log and the usage rows. Places: {account} {key} {key_id} {kind} {class} {namespace} {model} {header.NAME}. A tag of which a value is unknown is left out.',
        examples: [{ team: '{header.x-team}' }],
      }),
    ),
    metrics: Type.Optional(
      Type.Array(Type.String(), {
        minItems: 1,
        uniqueItems: true,
        description: 'The tags that become labels of umg_tagged_requests_total and umg_tagged_tokens_total.',
        examples: [['team']],
      }),
    ),
  },
  { additionalProperties: false },
)

/** What it is once checked. */
export type Config = Static<typeof Config>
