import type { Store } from '../store/database.ts'
import { contains } from '../store/like.ts'
import { type Page, type PageQuery, readPage } from '../store/page.ts'
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
