import { Readable } from 'node:stream'
import { type Static, Type } from 'typebox'
import { GatewayError } from '../errors.ts'
import { usageAsCsv } from '../usage/exports.ts'
import type { Retention } from '../usage/retention.ts'
import { viewTotals } from '../usage/rollup.ts'
import { countedSteps, timeRangeOf } from '../usage/time-range.ts'
import { type Dimension, reportUsage, type UsageQuery, type UsageReport } from '../usage/usage-report.ts'
import { accountScope, type Caller } from './caller.ts'
import { fromTime, oneOf, time, usageTotals } from './fields.ts'
import { type Operation, operation } from './operation.ts'

const usageQuery = Type.Object({
  from: Type.Optional(time('Absent: seven days before `to`.')),
  to: Type.Optional(time('Absent: now.')),
  step: Type.Optional(oneOf(['hour', 'day'], 'Absent: `hour` for up to two days.')),
  time_zone: Type.Optional(
    Type.String({
      maxLength: 64,
      description:
        'Where days begin at midnight, such as `Europe/Berlin`; absent: UTC. These days are sums of hours, which are kept for `usage_hours_seconds` of the session.',
    }),
  ),
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
    records: 'data.read',
    summary: 'Get usage over time, by model, key, account or tag',
    query: usageQuery,
    reply: usageSchema,
    handle: async ({ caller, query }, { store, retention }) =>
      viewReport(await reportUsage(store, queryOf(caller, query, retention))),
  }),
  operation({
    method: 'GET',
    path: '/usage.csv',
    access: 'member',
    records: 'data.export',
    summary: 'Export the same usage as CSV, with every group',
    query: usageQuery,
    streams: 'text/csv; charset=utf-8',
    async handle({ caller, query, setHeader }, { store, retention }) {
      const usage = queryOf(caller, query, retention)
      // Throws for an invalid range, before the file begins.
      countedSteps(usage)
      setHeader('content-disposition', 'attachment; filename="usage.csv"')
      return Readable.from(usageAsCsv(store, usage))
    },
  }),
]

function viewReport({ series, totals: all, ...report }: UsageReport) {
  return { ...report, series: series.map(({ t, values }) => ({ t, values: values.map(viewTotals) })), totals: viewTotals(all) }
}

/** Throws `invalid_value` for days of a time zone whose hours are removed already: their sums would be too low. */
function queryOf(caller: Caller, query: Static<typeof usageQuery>, { requests: kept }: Retention): UsageQuery {
  const { step, group, account_id, time_zone: timeZone } = query
  const range = timeRangeOf({ from: fromTime(query.from), to: fromTime(query.to), step, timeZone })
  if (timeZone !== undefined && range.step === 'day' && range.from < Date.now() - kept)
    throw new GatewayError('invalid_value', {
      param: 'from',
      values: { detail: 'hours of that time are no longer kept: ask for days in UTC' },
    })
  // The schema's pattern guarantees the type.
  return { ...range, group: group as Dimension, account: accountScope(caller, account_id) }
}
