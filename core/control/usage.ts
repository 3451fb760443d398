import { Readable } from 'node:stream'
import { type Static, Type } from 'typebox'
import { usageAsCsv } from '../usage/exports.ts'
import { viewTotals } from '../usage/rollup.ts'
import { stepsOf, timeRangeOf } from '../usage/time-range.ts'
import { type Dimension, reportUsage, type UsageQuery, type UsageReport } from '../usage/usage-report.ts'
import { accountScope, type Caller } from './caller.ts'
import { fromTime, oneOf, time, usageTotals } from './fields.ts'
import { type Operation, operation } from './operation.ts'

const usageQuery = Type.Object({
  from: Type.Optional(time('Absent: seven days before `to`.')),
  to: Type.Optional(time('Absent: now.')),
  step: Type.Optional(oneOf(['hour', 'day'], 'In UTC. Absent: `hour` for up to two days.')),
  group: Type.String({
    pattern: '^(model|key|account|tag:.{1,200})$',
    description: '`model`, `key`, `account`, or `tag:` and its name.',
  }),
  account_id: Type.Optional(Type.String({ maxLength: 300 })),
})

const usageSchema = Type.Object(
  {
    step: oneOf(['hour', 'day']),
    groups: Type.Array(
      Type.Object({
        name: Type.String({ description: "An id, a model or a tag; '' for none, `*` for all after the first twenty." }),
        label: Type.String(),
      }),
      { description: 'By requests, most first.' },
    ),
    series: Type.Array(Type.Object({ t: time('When it begins.'), values: Type.Array(usageTotals) }), {
      description: 'An entry for each hour or day, its values in the order of the groups.',
    }),
    totals: usageTotals,
  },
  { title: 'Usage' },
)

/** Usage: calls and tokens over time. */
export const usageOperations: readonly Operation[] = [
  operation({
    method: 'GET',
    path: '/usage',
    access: 'member',
    summary: 'Get usage over time, by model, key, account or tag',
    query: usageQuery,
    reply: usageSchema,
    handle: async ({ caller, query }, { store }) => viewReport(await reportUsage(store, queryOf(caller, query))),
  }),
  operation({
    method: 'GET',
    path: '/usage.csv',
    access: 'member',
    summary: 'Export the same usage as CSV, with every group',
    query: usageQuery,
    streams: 'text/csv; charset=utf-8',
    async handle({ caller, query, setHeader }, { store }) {
      const usage = queryOf(caller, query)
      // Throws for an invalid range, before the file begins.
      stepsOf(usage)
      setHeader('content-disposition', 'attachment; filename="usage.csv"')
      return Readable.from(usageAsCsv(store, usage))
    },
  }),
]

function viewReport({ series, totals: all, ...report }: UsageReport) {
  return { ...report, series: series.map(({ t, values }) => ({ t, values: values.map(viewTotals) })), totals: viewTotals(all) }
}

function queryOf(caller: Caller, { from, to, step, group, account_id }: Static<typeof usageQuery>): UsageQuery {
  const range = timeRangeOf({ from: fromTime(from), to: fromTime(to), step })
  // The schema's pattern guarantees the type.
  return { ...range, group: group as Dimension, account: accountScope(caller, account_id) }
}
