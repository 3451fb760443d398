import { Readable } from 'node:stream'
import { type Static, Type } from 'typebox'
import { spendAsCsv, spendAsJsonLines } from '../usage/exports.ts'
import { viewTotals } from '../usage/rollup.ts'
import { reportSpend, type SpendGroup, type SpendQuery, spendRangeOf } from '../usage/spend.ts'
import { MONTH, monthlyStatement } from '../usage/statement.ts'
import { accountScope, type Caller } from './caller.ts'
import { fromTime, named, nullable, oneOf, time, toTime, unpriced, usageTotals, usd } from './fields.ts'
import { type Operation, operation } from './operation.ts'

const spendQuery = Type.Object({
  from: Type.Optional(time('The first day, in UTC. Absent: thirty days before `to`.')),
  to: Type.Optional(time('The end, exclusive; a day that it is in counts as a whole. Absent: now.')),
  group: Type.String({
    pattern: '^(model|key|account|price|day|tag:.{1,200})$',
    description: '`model`, `key`, `account`, `price`, `day`, or `tag:` and its name.',
  }),
  account_id: Type.Optional(Type.String({ maxLength: 300 })),
})

const spendSchema = Type.Object(
  {
    from: time('The begin of the first day.'),
    to: time('The end.'),
    currency: oneOf(['USD']),
    rows: Type.Array(
      Type.Object({
        name: Type.String({
          description: "An id, model, price, day or tag; '' for none, `*` for all beyond the first ten thousand.",
        }),
        label: Type.String(),
        ...usageTotals.properties,
      }),
      { description: 'By cost, the highest first; by day, in their order. They add up to `totals`.' },
    ),
    totals: usageTotals,
  },
  { title: 'Spend' },
)

const line = Type.Object(
  {
    name: Type.String(),
    label: Type.String(),
    requests: Type.Integer(),
    unpriced,
    input_tokens: Type.Integer(),
    output_tokens: Type.Integer(),
    amount_usd: nullable(usd, 'In whole cents; null if no cost of the line is known.'),
  },
  { title: 'StatementLine' },
)

const statementSchema = Type.Object(
  {
    month: Type.String({ examples: ['2026-10'] }),
    final: Type.Boolean({ description: 'Whether the month is over, in UTC.' }),
    account: nullable(named, 'Null for all accounts.'),
    currency: oneOf(['USD']),
    lines: Type.Array(line, { description: 'By model, or for all accounts by account. Their amounts add up to the total.' }),
    prices: Type.Array(line, { description: 'By price: its source and version. These add up to the same total.' }),
    requests: Type.Integer(),
    unpriced,
    total_usd: nullable(usd, 'In whole cents; null if no cost is known.'),
  },
  { title: 'Statement' },
)

const statementQuery = Type.Object({
  month: Type.String({ pattern: MONTH.source, description: 'In UTC.', examples: ['2026-10'] }),
  account_id: Type.Optional(Type.String({ maxLength: 300, description: 'Absent: all accounts; for a member the own one.' })),
})

const EXPORTS = [
  { extension: 'csv', name: 'CSV', mediaType: 'text/csv; charset=utf-8', write: spendAsCsv },
  { extension: 'jsonl', name: 'JSON Lines', mediaType: 'application/jsonl; charset=utf-8', write: spendAsJsonLines },
] as const

/** Spend: what calls cost, by group and by month. */
export const spendOperations: readonly Operation[] = [
  operation({
    method: 'GET',
    path: '/spend',
    access: 'member',
    records: 'data.read',
    summary: 'Get what was spent, by model, key, account, price, tag or day',
    query: spendQuery,
    reply: spendSchema,
    async handle({ caller, query }, { store }) {
      const spend = queryOf(caller, query)
      const { rows, totals } = await reportSpend(store, spend)
      return {
        from: toTime(spend.from),
        to: toTime(spend.to),
        currency: 'USD' as const,
        rows: rows.map(({ name, label, totals: own }) => ({ name, label, ...viewTotals(own) })),
        totals: viewTotals(totals),
      }
    },
  }),
  ...EXPORTS.map(({ extension, name, mediaType, write }) =>
    operation({
      method: 'GET',
      path: `/spend.${extension}`,
      access: 'member',
      records: 'data.export',
      summary: `Export the same spend as ${name}`,
      query: spendQuery,
      streams: mediaType,
      async handle({ caller, query, setHeader }, { store }) {
        const report = await reportSpend(store, queryOf(caller, query))
        setHeader('content-disposition', `attachment; filename="spend.${extension}"`)
        return Readable.from(write(report))
      },
    }),
  ),
  operation({
    method: 'GET',
    path: '/statement',
    access: 'member',
    records: 'data.read',
    summary: 'Get the statement of a month, in cents that add up, with the prices that were applied',
    query: statementQuery,
    reply: statementSchema,
    handle: async ({ caller, query: { month, account_id } }, { store }) =>
      monthlyStatement(store, month, accountScope(caller, account_id)),
  }),
]

function queryOf(caller: Caller, { from, to, group, account_id }: Static<typeof spendQuery>): SpendQuery {
  const range = spendRangeOf({ from: fromTime(from), to: fromTime(to) })
  // The schema's pattern guarantees the type.
  return { ...range, group: group as SpendGroup, account: accountScope(caller, account_id) }
}
