import { type TSchema, Type } from 'typebox'
import { instant } from '../text/times.ts'

/** Fields that many rows have, so that they are called, checked and described alike. */

/** When: RFC 3339, in UTC. */
export const time = (description: string) => Type.String({ format: 'date-time', description })

/** When, if ever. */
export const timeOrNull = (description: string) => Type.Union([time(description), Type.Null()], { description })

/** A person, a key or an account, as far as others name it. */
export const named = Type.Object({ id: Type.String(), name: Type.String() })

/** The same, or null. */
export const namedOrNull = Type.Union([named, Type.Null()])

/** What every list asks for its pages. */
export const pageQuery = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 50, description: 'How many to give.' })),
  cursor: Type.Optional(Type.String({ maxLength: 500, description: 'The `next_cursor` of the page before.' })),
}

/** A page of a list. */
export const page = <Item extends TSchema>(item: Item) =>
  Type.Object({
    data: Type.Array(item),
    next_cursor: Type.Union([Type.String(), Type.Null()], { description: 'Asks for the next page; null on the last one.' }),
  })

/** An e-mail address. */
export const email = Type.String({ format: 'email', maxLength: 254 })

/** Globs of model ids. */
export const globs = (description: string) => Type.Array(Type.String(), { description, examples: [['openai/*']] })

/** A rate class, or none of its own. */
export const rateClass = Type.Union([Type.String(), Type.Null()], { description: 'A rate class of routes.yaml.' })

/** Labels of a key. */
export const tags = Type.Record(Type.String(), Type.String(), {
  description: 'Labels for usage and metrics: names in lower case, at most ten.',
  examples: [{ team: 'research' }],
})

/** What somebody may do. */
export const role = Type.Enum(['admin', 'member'], {
  description: 'An admin sees and changes everything; a member what is of their account.',
})

/** A password as it is typed. */
export const password = (description: string) => Type.String({ maxLength: 1000, description })

/** What a link carries behind its `#`. */
export const token = Type.String({ maxLength: 200, description: 'What stands behind the # of the link.' })

/** From a time of the store to one of the wire. */
export const toTime = (ms: number): string => new Date(ms).toISOString()

/** From a time of the store, if there is one, to one of the wire. */
export const toTimeOrNull = (ms: number | null | undefined): string | null => (ms == null ? null : toTime(ms))

/** From a time of the wire, if there is one, to one of the store. Only for what was checked. */
export const fromTime = (text: string | undefined): number | undefined => (text === undefined ? undefined : instant(text))
