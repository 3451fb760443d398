import { Type } from 'typebox'
import { listAudit, viewAudit } from '../accounts/audit-log.ts'
import { fromTime, namedOrNull, page, pageQuery, time } from './fields.ts'
import { type Route, route } from './operation.ts'

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
      return { data: data.map(viewAudit), next_cursor }
    },
  }),
]
