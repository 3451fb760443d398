import { Type } from 'typebox'
import { listAudit, viewAudit } from '../accounts/audit.ts'
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
  },
  { title: 'AuditEntry' },
)

/** The audit trail. */
export const auditOperations: readonly Operation[] = [
  operation({
    method: 'GET',
    path: '/audit',
    access: 'admin',
    summary: 'List the audit trail, newest first',
    query: Type.Object({
      ...pageQuery,
      action: Type.Optional(Type.String({ maxLength: 100, description: 'Part of the action: `key.create`, `session`.' })),
      actor: Type.Optional(Type.String({ maxLength: 100, description: "Part of the actor's name, or the actor's id." })),
      from: Type.Optional(time('The earliest time.')),
      to: Type.Optional(time('The latest time, exclusive.')),
    }),
    reply: page(auditSchema),
    async handle({ query: { from, to, ...filter } }, { store }) {
      const { data, next_cursor } = await listAudit(store, { ...filter, from: fromTime(from), to: fromTime(to) })
      return { data: data.map(viewAudit), next_cursor }
    },
  }),
]
