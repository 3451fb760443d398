import { Readable } from 'node:stream'
import { Type } from 'typebox'
import { type AuditFilter, type AuditRow, type AuditView, listAudit, viewAudit } from '../accounts/audit.ts'
import type { Store } from '../store/database.ts'
import { csvLine } from '../usage/exports.ts'
import { namesOf } from '../usage/names.ts'
import { fromTime, named, nullable, page, pageQuery, record, time } from './fields.ts'
import { type Operation, operation } from './operation.ts'

const auditSchema = Type.Object(
  {
    id: Type.String(),
    at: time('When it was done.'),
    actor: nullable(named, 'Who did it; null: a client that was not signed in.'),
    action: Type.String({ examples: ['key.create'] }),
    object: Type.Object({ type: Type.String(), id: nullable(Type.String()), name: Type.String() }),
    ip: nullable(Type.String(), "The client's address; null if no network was involved."),
    changes: record(Type.Array(Type.Unknown(), { minItems: 2, maxItems: 2 }), {
      description: 'For each changed field its value before and after.',
    }),
    accounts: record(Type.String(), { description: 'The names of the accounts that `changes` has by id.' }),
  },
  { title: 'AuditEntry' },
)

const auditQuery = Type.Object({
  action: Type.Optional(Type.String({ maxLength: 100, description: 'Part of the action: `key.create`, `session`.' })),
  actor: Type.Optional(Type.String({ maxLength: 100, description: "Part of the actor's name, or the actor's id." })),
  from: Type.Optional(time('The earliest time.')),
  to: Type.Optional(time('The latest time, exclusive.')),
})

/** The audit trail. */
export const auditOperations: readonly Operation[] = [
  operation({
    method: 'GET',
    path: '/audit',
    access: 'admin',
    summary: 'List the audit trail, newest first',
    query: Type.Object({ ...auditQuery.properties, ...pageQuery }),
    reply: page(auditSchema),
    async handle({ query: { from, to, ...filter } }, { store }) {
      const { data, next_cursor } = await listAudit(store, { ...filter, from: fromTime(from), to: fromTime(to) })
      return { data: await auditViews(data, store), next_cursor }
    },
  }),
  operation({
    method: 'GET',
    path: '/audit.csv',
    access: 'admin',
    records: 'data.export',
    summary: 'Export the audit trail of the filter as CSV',
    query: auditQuery,
    streams: 'text/csv; charset=utf-8',
    async handle({ query: { from, to, ...filter }, setHeader }, { store }) {
      setHeader('content-disposition', 'attachment; filename="audit.csv"')
      return Readable.from(auditAsCsv(store, { ...filter, from: fromTime(from), to: fromTime(to) }))
    },
  }),
]

async function auditViews(rows: readonly AuditRow[], store: Store) {
  const views = rows.map(viewAudit)
  const names = await namesOf(store, 'accounts', views.flatMap(accountsIn))
  return views.map((view) => ({ ...view, accounts: Object.fromEntries(accountsIn(view).map((id) => [id, names.get(id) ?? id])) }))
}

/** The ids of accounts in the changes of a line. */
const accountsIn = ({
  changes: { account = [] },
}: {
  readonly changes: Readonly<Record<string, readonly unknown[]>>
}): string[] => account.filter((id) => typeof id === 'string')

const CSV_COLUMNS: Readonly<Record<string, (line: AuditView) => string | null | undefined>> = {
  id: ({ id }) => id,
  at: ({ at }) => at,
  actor_id: ({ actor }) => actor?.id,
  actor: ({ actor }) => actor?.name,
  action: ({ action }) => action,
  object_type: ({ object }) => object.type,
  object_id: ({ object }) => object.id,
  object: ({ object }) => object.name,
  ip: ({ ip }) => ip,
  changes: ({ changes }) => JSON.stringify(changes),
}

const PAGE = 500

/** The audit trail as CSV with a header line, newest first, page by page. */
async function* auditAsCsv(store: Store, filter: AuditFilter): AsyncGenerator<string> {
  const cells = Object.values(CSV_COLUMNS)
  yield csvLine(Object.keys(CSV_COLUMNS))
  let cursor: string | null | undefined
  do {
    const page = await listAudit(store, { ...filter, limit: PAGE, ...(cursor != null && { cursor }) })
    yield page.data.map((row) => csvLine(cells.map((cell) => cell(viewAudit(row))))).join('')
    cursor = page.next_cursor
  } while (cursor !== null)
}
