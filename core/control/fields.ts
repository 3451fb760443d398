import { type Static, type TSchema, type TSchemaOptions, Type } from 'typebox'
import { instant } from '../text/times.ts'

/** Schemas of fields that several operations share. A schema with a `title` is a component of the OpenAPI document. */

/** One of a few texts. */
export const oneOf = <const Values extends string[]>(values: [...Values], description?: string) =>
  Type.Enum(values, { type: 'string', ...(description !== undefined && { description }) })

/** A value or null. */
export const nullable = <Schema extends TSchema>(schema: Schema, description?: string) =>
  Type.Union([schema, Type.Null()], description === undefined ? {} : { description })

/** An object with any names. Not `Type.Record`: generators of clients know `additionalProperties`, and not `patternProperties`. */
export const record = <Schema extends TSchema>(value: Schema, options: TSchemaOptions = {}) =>
  Type.Unsafe<Record<string, Static<Schema>>>({ type: 'object', additionalProperties: value, ...options })

/** A time: RFC 3339, in UTC. */
export const time = (description: string) => Type.String({ format: 'date-time', description })

/** A time or null. */
export const timeOrNull = (description: string) => nullable(time(description), description)

/** An amount of money. A text, because numbers of JSON would round it. */
export const usd = Type.String({
  pattern: '^\\d+\\.\\d{2,9}$',
  description: 'US dollars, exactly.',
  examples: ['12.50', '0.0000375'],
})

/** How many of some requests have an unknown cost. */
export const unpriced = Type.Integer({ description: 'The requests whose cost is unknown, because no price of their model is.' })

/** What the calls of an object have cost lately. */
export const recentCost = Type.Object(
  { usd: nullable(usd, 'Null if no cost is known.'), unpriced },
  { title: 'RecentCost', description: 'What its calls have cost in the last thirty days, today included, in days of UTC.' },
)

/** Totals of calls. */
export const usageTotals = Type.Object(
  {
    requests: Type.Integer(),
    errors: Type.Integer(),
    input_tokens: Type.Integer(),
    output_tokens: Type.Integer(),
    cached_tokens: Type.Integer({ description: 'Part of `input_tokens`.' }),
    reasoning_tokens: Type.Integer({ description: 'Part of `output_tokens`.' }),
    cost_usd: nullable(usd, 'Null if no cost is known.'),
    saved_usd: nullable(usd, 'What tokens from caches of upstreams would have cost more without them; null if no cost is known.'),
    unpriced,
  },
  { title: 'UsageTotals' },
)

/** A user, a key or an account, as other objects refer to it. */
export const named = Type.Object({ id: Type.String(), name: Type.String() }, { title: 'Named' })

/** The query of every list. */
export const pageQuery = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 50, description: 'The most items to return.' })),
  cursor: Type.Optional(Type.String({ maxLength: 500, description: 'The `next_cursor` of the previous page.' })),
}

/** A page of a list. */
export const page = <Item extends TSchema>(item: Item) =>
  Type.Object({
    data: Type.Array(item),
    next_cursor: nullable(Type.String(), 'The `cursor` of the next page; null on the last page.'),
  })

/** An e-mail address. */
export const email = Type.String({ format: 'email', maxLength: 254 })

/** Globs of model ids. */
export const globs = (description: string) => Type.Array(Type.String(), { description, examples: [['openai/*']] })

/** A rate class, or null. */
export const rateClass = (description: string) => nullable(Type.String(), description)

/** Labels of a key. */
export const tags = record(Type.String(), {
  description: 'Labels for usage and metrics: at most ten, their names in lower case.',
  examples: [{ team: 'research' }],
})

/** A user's role. */
export const role = oneOf(['admin', 'member'], 'An admin sees and changes everything; a member what belongs to their account.')

/** A password. */
export const password = (description: string) => Type.String({ maxLength: 1000, description })

/** A new password. */
export const newPassword = password('At least 12 characters.')

/** The token of a link. */
export const token = Type.String({ maxLength: 200, description: "The link's fragment: the text after its #." })

/** A time of the store to one of the API. */
export const toTime = (ms: number): string => new Date(ms).toISOString()

/** A time of the store, or none, to one of the API. */
export const toTimeOrNull = (ms: number | null | undefined): string | null => (ms == null ? null : toTime(ms))

/** A validated time of the API, or none, to one of the store. */
export const fromTime = (text: string | undefined): number | undefined => (text === undefined ? undefined : instant(text))
