import { Readable } from 'node:stream'
import { type Static, Type } from 'typebox'
import { usageAsCsv } from '../usage/exports.ts'
import { stepsOf, timeRangeOf } from '../usage/time-range.ts'
import { type Dimension, reportUsage, type UsageQuery } from '../usage/usage-report.ts'
import { accountSeenBy } from './accounts.ts'
import type { Caller } from './caller.ts'
import { fromTime, time } from './fields.ts'
import { type Route, route } from './operation.ts'

const question = Type.Object({
  from: Type.Optional(time('Absent: seven days before `to`.')),
  to: Type.Optional(time('Absent: now.')),
  step: Type.Optional(Type.Enum(['hour', 'day'], { description: 'In UTC. Absent: hours for up to two days.' })),
  group: Type.String({
    pattern: '^(model|key|account|tag:.{1,200})$',
    description: '`model`, `key`, `account`, or `tag:` and its name.',
  }),
  account_id: Type.Optional(Type.String({ maxLength: 300 })),
})

const measures = Type.Object({
  requests: Type.Integer(),
  errors: Type.Integer(),
  input_tokens: Type.Integer(),
  output_tokens: Type.Integer(),
  cached_tokens: Type.Integer({ description: 'Of the input.' }),
  reasoning_tokens: Type.Integer({ description: 'Of the output.' }),
})

const report = Type.Object({
  step: Type.Enum(['hour', 'day']),
  groups: Type.Array(
    Type.Object({
      name: Type.String({ description: "An id, a model or a tag; '' for what has none, `*` for all after the first twenty." }),
      label: Type.String(),
    }),
    { description: 'Those with the most requests first.' },
  ),
  series: Type.Array(Type.Object({ t: time('When it begins.'), values: Type.Array(measures) }), {
    description: 'An entry for each hour or day, its values in the order of the groups.',
  }),
  totals: measures,
})

function queryOf(caller: Caller, { from, to, step, group, account_id }: Static<typeof question>): UsageQuery {
  const stretch = timeRangeOf({ from: fromTime(from), to: fromTime(to), step })
  // The schema's pattern is this type.
  return { ...stretch, group: group as Dimension, account: accountSeenBy(caller, account_id) }
}

/** What calls add up to. */
export const usageRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/usage',
    role: 'member',
    summary: 'Usage over time, by model, key, account or tag',
    query: question,
    reply: report,
    handle: async ({ caller, query }, { store }) => reportUsage(store, queryOf(caller, query)),
  }),
  route({
    method: 'GET',
    path: '/usage.csv',
    role: 'member',
    summary: 'The same usage as CSV: every name, not only the first twenty',
    query: question,
    streams: 'text/csv; charset=utf-8',
    async handle({ caller, query, header }, { store }) {
      const asked = queryOf(caller, query)
      // What is wrong with it is told before a file begins.
      stepsOf(asked)
      header('content-disposition', 'attachment; filename="usage.csv"')
      return Readable.from(usageAsCsv(store, asked))
    },
  }),
]
