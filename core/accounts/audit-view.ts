import type { AuditRow } from './audit-trail.ts'

/** A line of the audit trail, as the management API and the command line tell it. */
export interface AuditView {
  readonly id: string
  /** ISO 8601. */
  readonly at: string
  /** Null: somebody who was not signed in. */
  readonly actor: { readonly id: string; readonly name: string } | null
  /** `key.create` */
  readonly action: string
  readonly object: { readonly type: string; readonly id: string | null; readonly name: string }
  /** Null where there was no network between. */
  readonly ip: string | null
  /** Per field its value before and after. */
  readonly changes: Readonly<Record<string, [before: unknown, after: unknown]>>
}

/** What a line of the audit trail says. */
export function viewAudit(row: AuditRow): AuditView {
  return {
    id: row.id,
    at: new Date(row.at).toISOString(),
    actor: row.actor_id === null ? null : { id: row.actor_id, name: row.actor_name ?? row.actor_id },
    action: row.action,
    object: { type: row.object_type, id: row.object_id, name: row.object_name },
    ip: row.address,
    changes: JSON.parse(row.changes),
  }
}
