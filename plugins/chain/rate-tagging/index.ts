import { type CallState, defineChain, RATE, Type } from 'unified-model-gateway/plugin'
import { createClasses, scopesOf } from './classes.ts'
import { rateHeaders, refusal } from './replies.ts'
import { compileTags, createTagMetrics } from './tags.ts'

const NAME = '^[A-Za-z0-9][A-Za-z0-9_-]*$'
/** What Prometheus takes as a label. */
const TAG_NAME = '^[a-z][a-z0-9_]*$'

const limits = {
  requests: Type.Optional(
    Type.String({ pattern: RATE, description: 'Calls per s, min, h, d or month.', examples: ['60/min', '10k/day'] }),
  ),
  tokens: Type.Optional(
    Type.String({
      pattern: RATE,
      description: 'Prompt and answer tokens per s, min, h, d or month.',
      examples: ['100k/min', '5M/day'],
    }),
  ),
  concurrent: Type.Optional(Type.Integer({ minimum: 1, description: 'Calls under way at once.', examples: [10] })),
}

const Class = Type.Object(
  {
    ...limits,
    account: Type.Optional(
      Type.Object(limits, {
        additionalProperties: false,
        description: 'What all keys of the class that belong to one account may use together.',
        examples: [{ requests: '300/min', tokens: '2M/min', concurrent: 20 }],
      }),
    ),
    answerTokens: Type.Optional(
      Type.Integer({
        minimum: 0,
        description:
          'Tokens that are reserved for the answer of a call that sets no cap. Default: 1024, but at most a tenth of the smallest `tokens`.',
        examples: [4096],
      }),
    ),
    onOutage: Type.Optional(
      Type.Enum(['serve', 'refuse'], {
        description:
          'While the counters that all processes share do not answer: `serve` what each process holds and at most a tenth of the limit in all (default), or `refuse` with 503 what no process holds.',
        examples: ['refuse'],
      }),
    ),
  },
  { additionalProperties: false, description: 'What each key of the class may use. What is not named is not limited.' },
)

const Config = Type.Object(
  {
    classes: Type.Record(Type.String({ pattern: NAME }), Class, {
      additionalProperties: false,
      minProperties: 1,
      declares: 'rate class',
      description:
        'The rate classes. A key or its account names its class; its limits are its own, those under `account` are shared.',
      examples: [{ standard: { requests: '60/min' } }],
    }),
    default: Type.String({
      refersTo: 'rate class',
      description: 'The class of the keys that name none.',
      examples: ['standard'],
    }),
    timeZone: Type.Optional(Type.String({ description: 'The time zone of months. Default: UTC.', examples: ['Europe/Berlin'] })),
    tags: Type.Optional(
      Type.Record(Type.String({ pattern: TAG_NAME }), Type.String({ minLength: 1 }), {
        additionalProperties: false,
        declares: 'tag',
        description:
          'Labels of the call in the log and the usage rows. Places: {account} {key} {key_id} {kind} {class} {namespace} {model} {header.NAME} {tag.NAME} (of the key or its account). A tag with an unknown value is left out.',
        examples: [{ team: '{header.x-team}' }],
      }),
    ),
    metrics: Type.Optional(
      Type.Array(Type.String({ refersTo: 'tag' }), {
        minItems: 1,
        uniqueItems: true,
        description:
          'The tags that become labels of umg_tagged_requests_total, umg_tagged_tokens_total and umg_tagged_cost_usd_total: those under `tags`, and those of keys and accounts.',
        examples: [['team']],
      }),
    ),
  },
  { additionalProperties: false },
)

/** Limits each key and account by its rate class, and labels its calls. */
export default defineChain({
  apiVersion: 1,
  name: 'rate-tagging',
  schema: Config,
  create(config, host) {
    const classOf = createClasses(config, host.log)
    const tags = compileTags(config.tags ?? {})
    const countTagged = createTagMetrics(config.metrics ?? [], host.metrics)
    const limited = host.metrics.counter('umg_rate_limited_total', 'Calls refused by a rate limit.', [
      'limit',
      'scope',
      'dimension',
    ])

    return {
      explain: (principal) => [`/classes/${classOf(principal).name}`],
      async handle(ctx, next) {
        const state: CallState = ctx.state
        const { principal } = state
        // Core refuses a call without a principal. A list of models, for one, needs no upstream.
        if (principal === undefined || !state.callsModel) return next()
        if (config.metrics !== undefined) state.onSettled((outcome) => countTagged(state, outcome))

        const rateClass = classOf(principal)
        const setTags = () =>
          tags.set(state.tags, { principal, rateClass: rateClass.name, model: state.model, header: (name) => ctx.get(name) })
        if (config.tags !== undefined) setTags()
        const scopes = scopesOf(rateClass, principal)
        const reserved = host.limits.reserveFor(ctx, {
          scopes,
          answerTokens: rateClass.answerTokens,
          onBody: tags.needModel ? setTags : undefined,
          refusal(refused) {
            const limit = scopes.find(({ subject }) => subject === refused.refusedFor)!
            limited.add(1, rateClass.name, limit.scope, refused.refusedBy)
            return refusal({ ...refused, rateClass, limit, model: state.model?.id })
          },
        })
        const left = reserved instanceof Promise ? await reserved : reserved
        const reservedAt = performance.now()
        try {
          await next()
        } finally {
          ctx.set(rateHeaders(left, performance.now() - reservedAt))
        }
      },
    }
  },
})
