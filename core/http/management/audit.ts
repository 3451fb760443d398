import { Type } from 'typebox'
import { type AuditRow, listAudit } from '../../accounts/audit-trail.ts'
import { fromTime, namedOrNull, page, pageQuery, time, toTime } from './fields.ts'
import { type Route, route } from './route.ts'

const auditSchema = Type.Object({
  id: Type.String(),
  at: time('When it was done.'),
  actor: namedOrNull,
  action: Type.String({ examples: ['key.create'] }),
  object: Type.Object({ type: Type.String(), id: Type.Union([Type.String(), Type.Null()]), name: Type.String() }),
  ip: Type.Union([Type.String(), Type.Null()], { description: 'Null where there was no network between.' }),
  changes: Type.Record(Type.String(), Type.Array(Type.Unknown(), { minItems: 2, maxItems: 2 }), {
    description: 'Per field its value before and after.',
  }),
})

const show = (row: AuditRow) => ({
  id: row.id,
  at: toTime(row.at),
  actor: row.actor_id === null ? null : { id: row.actor_id, name: row.actor_name ?? row.actor_id },
  action: row.action,
  object: { type: row.object_type, id: row.object_id, name: row.object_name },
  ip: row.address,
  changes: JSON.parse(row.changes),
})

/** The audit trail. */
export const auditRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/audit',
    role: 'admin',
    summary: 'What was done by whom, the newest first',
    query: Type.Object({
      ...pageQuery,
      action: Type.Optional(Type.String({ maxLength: 100, description: 'Part of what was done: `key.create`, `session`.' })),
      actor: Type.Optional(Type.String({ maxLength: 100, description: 'Part of the name, or the id, of who did it.' })),
      from: Type.Optional(time('The first moment.')),
      to: Type.Optional(time('The moment after the last.')),
    }),
    reply: page(auditSchema),
    async handle({ query: { from, to, ...filter } }, { store }) {
      const { data, next_cursor } = await listAudit(store, { ...filter, from: fromTime(from), to: fromTime(to) })
      return { data: data.map(show), next_cursor }
    },
  }),
]
