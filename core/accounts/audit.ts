import type { Kysely } from 'kysely'
import type { Schema } from '../store/schema.ts'
import { randomBase62 } from '../text/ids.ts'

/** Who did something: a person, an admin key, or a program. */
export interface Actor {
  /** `usr_…`, `key_…`, or the name of a program. */
  readonly id: string
  readonly name: string
  /** Where they did it from; absent where there is no network between. */
  readonly address?: string
}

/** Who has not said who they are. */
export interface Stranger {
  readonly id?: undefined
  readonly name?: undefined
  readonly address: string
}

/** Whoever has the operator's shell. */
export const COMMAND_LINE: Actor = { id: 'command-line', name: 'command line' }

/** What the gateway does by itself. */
export const GATEWAY: Actor = { id: 'gateway', name: 'gateway' }

/** What was done, as the audit trail calls it. */
export type AuditAction =
  | 'account.create'
  | 'account.edit'
  | 'config.reload'
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
  | 'session.end-all'
  | 'session.refuse'
  | 'session.start'
  | 'user.create'
  | 'user.edit'

/** One line of the audit trail. */
export interface AuditEntry {
  readonly action: AuditAction
  readonly object: {
    readonly type: 'account' | 'config' | 'invitation' | 'key' | 'user'
    readonly id: string | null
    readonly name: string
  }
  /** What changed, each field with its value before and after. Never a secret. */
  readonly changes?: Changes
}

/** Per field its value before and after. */
export type Changes = Readonly<Record<string, readonly [before: unknown, after: unknown]>>

/**
 * Writes a line of the audit trail, in the transaction of what it tells of: neither is ever there without the other. The database
 * itself refuses to change or remove a line.
 */
export async function audit(
  db: Kysely<Schema>,
  actor: Actor | Stranger,
  { action, object, changes = {} }: AuditEntry,
): Promise<void> {
  await db
    .insertInto('audit')
    .values({
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
    })
    .execute()
}

let written = 0

/** Lines of one moment stand in the order in which they were written. Hexadecimal: so every collation sorts it alike. */
function nextId(): string {
  written = (written + 1) % 0x100_0000
  return `aud_${written.toString(16).padStart(6, '0')}${randomBase62(14)}`
}

/** The fields in which two versions of a thing differ. Of a new thing, the one before is `{}`. */
export function changesBetween(before: Fields, after: Fields): Changes {
  const pairs = Object.keys(after).map((field) => [field, [before[field] ?? null, after[field] ?? null]] as const)
  return Object.fromEntries(pairs.filter(([, [was, is]]) => JSON.stringify(was) !== JSON.stringify(is)))
}

type Fields = Readonly<Record<string, unknown>>
