import type { Kysely } from 'kysely'
import { appendEntry } from '../store/audit-chain.ts'
import type { Store } from '../store/database.ts'
import { contains, type Page, type PageQuery, readPage } from '../store/page.ts'
import type { AuditTable, Schema } from '../store/schema.ts'
import { randomBase62 } from '../text/ids.ts'

/** The author of a change: a user, an admin key, or a program. */
export interface Actor {
  /** `usr_…`, `key_…`, or the name of a program. */
  readonly id: string
  readonly name: string
  /** The client's address; absent if no network was involved. */
  readonly address?: string
}

/** An author who is not authenticated. */
export interface Anonymous {
  readonly id?: undefined
  readonly name?: undefined
  readonly address: string
}

/** The operator, at the command line. */
export const COMMAND_LINE: Actor = { id: 'command-line', name: 'command line' }

/** The gateway itself. */
export const GATEWAY: Actor = { id: 'gateway', name: 'gateway' }

/** The actions of the audit trail. */
export type AuditAction =
  | 'access.refuse'
  | 'account.create'
  | 'account.edit'
  | 'budget.alert'
  | 'config.refuse'
  | 'config.reload'
  | 'data.export'
  | 'data.read'
  | 'invitation.accept'
  | 'invitation.create'
  | 'invitation.withdraw'
  | 'key.create'
  | 'key.edit'
  | 'key.revoke'
  | 'key.rotate'
  | 'password.change'
  | 'password.refuse'
  | 'session.end'
  | 'session.confirm'
  | 'session.end-all'
  | 'session.refuse'
  | 'session.start'
  | 'user.create'
  | 'user.edit'

/** A line of the audit trail to write. */
export interface AuditEntry {
  readonly action: AuditAction
  readonly object: {
    readonly type: 'account' | 'api' | 'config' | 'invitation' | 'key' | 'user'
    readonly id: string | null
    readonly name: string
  }
  /** The changed fields. Never a secret. */
  readonly changes?: Changes
}

/** Per field its value before and after. */
export type Changes = Readonly<Record<string, readonly [before: unknown, after: unknown]>>

/**
 * Writes a line of the audit trail, in the transaction of the change it records: neither exists without the other. It is the last thing that
 * the transaction locks (`appendEntry`). The database refuses to change or remove a line.
 */
export async function audit(
  db: Kysely<Schema>,
  actor: Actor | Anonymous,
  { action, object, changes = {} }: AuditEntry,
): Promise<void> {
  const entry = {
    id: nextId(),
    at: Date.now(),
    actor_id: actor.id ?? null,
    actor_name: actor.name ?? null,
    action,
    object_type: object.type,
    object_id: object.id,
    object_name: object.name,
    address: actor.address ?? null,
    changes: JSON.stringify(changes),
  }
  if (db.isTransaction) await appendEntry(db, entry)
  else await db.transaction().execute((transaction) => appendEntry(transaction, entry))
}

let written = 0

/** Ids of one millisecond sort in the order of writing. Hexadecimal, since every collation sorts that alike. */
function nextId(): string {
  written = (written + 1) % 0x100_0000
  return `aud_${written.toString(16).padStart(6, '0')}${randomBase62(14)}`
}

/** The fields that differ between two versions of an object. For a new object, `before` is `{}`. */
export function changesBetween(before: Fields, after: Fields): Changes {
  const pairs = Object.keys(after).map((field) => [field, [before[field] ?? null, after[field] ?? null]] as const)
  return Object.fromEntries(pairs.filter(([, [old, next]]) => JSON.stringify(old) !== JSON.stringify(next)))
}

type Fields = Readonly<Record<string, unknown>>

/** Selects lines of the audit trail. Times are milliseconds since 1970. */
export interface AuditFilter extends PageQuery {
  /** Part of the action: `key.create`, or `key` for all actions on keys. */
  readonly action?: string
  /** Part of the actor's name, or the actor's id. */
  readonly actor?: string
  readonly from?: number
  /** Exclusive. */
  readonly to?: number
}

/** A stored line of the audit trail; `created_at`, the column that lists are ordered by, is its time. */
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

/** A line of the audit trail, as the management API and the command line show it. */
export interface AuditView {
  readonly id: string
  /** ISO 8601. */
  readonly at: string
  /** Null: not signed in. */
  readonly actor: { readonly id: string; readonly name: string } | null
  /** `key.create` */
  readonly action: string
  readonly object: { readonly type: string; readonly id: string | null; readonly name: string }
  /** Null if no network was involved. */
  readonly ip: string | null
  /** Per field its value before and after. */
  readonly changes: Readonly<Record<string, [before: unknown, after: unknown]>>
}

/** Converts a stored line to what is shown of it. */
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
