import type { Kysely } from 'kysely'
import { hashOfEntry } from './migrations/audit-trail.ts'
import type { AuditHeadTable, AuditTable, Schema } from './schema.ts'

/** What an entry of the audit trail says. */
export type AuditContent = Omit<AuditTable, keyof Link>

/** The place of an entry in the chain. */
export interface Link {
  /** From 1, without gaps. */
  readonly position: number
  /** The hash of the entry before; of the first one, `NO_HASH`. */
  readonly previous: string
  readonly hash: string
}

/**
 * Adds an entry at the end of the chain, in the caller's transaction. From here to the end of the transaction it holds the lock of the chain:
 * it must lock no row after this that another transaction may lock before it adds its own entry.
 */
export async function appendEntry(db: Kysely<Schema>, entry: AuditContent): Promise<void> {
  // The first statement, not a `select`: PostgreSQL then waits for the entry that another transaction is adding.
  const { position, hash: previous }: AuditHeadTable = await db
    .updateTable('audit_head')
    .set(({ eb }) => ({ position: eb('position', '+', 1) }))
    .returningAll()
    .executeTakeFirstOrThrow()
  const link = { position, previous, hash: hashOfEntry(entry, { position, previous }) }
  await db
    .insertInto('audit')
    .values({ ...entry, ...link })
    .execute()
  await db.updateTable('audit_head').set({ hash: link.hash }).execute()
}
