import type { Store } from '../store/database.ts'
import { contains, type Page, type PageQuery, readPage } from '../store/page.ts'
import type { AuditTable } from '../store/schema.ts'

/** Which lines are asked for. Times are milliseconds since 1970. */
export interface AuditFilter extends PageQuery {
  /** Part of what was done: `key.create`, or `key` for all that was done to keys. */
  readonly action?: string
  /** Part of the name, or the id, of who did it. */
  readonly actor?: string
  readonly from?: number
  /** Not among them. */
  readonly to?: number
}

/** A line of the audit trail as it is stored, with its time under the name that lists have for it. */
export type AuditRow = AuditTable & { readonly created_at: number }

/** Lists the audit trail, newest first. */
export function listAudit(store: Store, filter: AuditFilter = {}): Promise<Page<AuditRow>> {
  const { action, actor, from, to } = filter
  const lines = store.db
    .selectFrom('audit')
    .selectAll()
    .select('at as created_at')
    .$if(action !== undefined, (all) => all.where(contains('action', action!)))
    .$if(actor !== undefined, (all) => all.where((row) => row.or([contains('actor_name', actor!), row('actor_id', '=', actor!)])))
    .$if(from !== undefined, (all) => all.where('at', '>=', from!))
    .$if(to !== undefined, (all) => all.where('at', '<', to!))
  return readPage(store, lines, filter)
}

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
