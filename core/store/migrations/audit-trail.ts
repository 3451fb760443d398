import { hash } from 'node:crypto'
import { type Kysely, PostgresAdapter, sql } from 'kysely'

/** SQLite removes the line that an `INSERT OR REPLACE` takes the place of without the trigger for deletions. PostgreSQL has no such statement. */
export async function refuseReplacements(db: Kysely<never>): Promise<void> {
  if (db.getExecutor().adapter instanceof PostgresAdapter) return
  await sql`
    create trigger audit_refuses_replace before insert on audit
    when exists (select 1 from audit where id = new.id or rowid = new.rowid)
    begin select raise(abort, 'the audit trail is append-only'); end
  `.execute(db)
}

/** What an entry of the audit trail says, independent of the current schema. */
interface Content {
  readonly id: string
  readonly at: number
  readonly actor_id: string | null
  readonly actor_name: string | null
  readonly action: string
  readonly object_type: string
  readonly object_id: string | null
  readonly object_name: string
  readonly address: string | null
  readonly changes: string
}

/** The end of the chain. */
interface Head {
  readonly position: number
  readonly hash: string
}

interface Tables {
  audit: Content & { position: number | null; previous: string | null; hash: string | null }
  audit_head: Head
}

/** The hash before the first entry. */
export const NO_HASH = '0'.repeat(64)

/**
 * The hash of an entry: SHA-256, in hex, of a JSON array in UTF-8 of the hash of the entry before, the position, and all that the entry says.
 * It never changes, as this migration: hashes are stored, and docs/accounts.md tells how they are computed.
 */
export function hashOfEntry(entry: Content, { position, previous }: { position: number; previous: string }): string {
  const { id, at, actor_id, actor_name, action, object_type, object_id, object_name, address, changes } = entry
  const said = [id, at, actor_id, actor_name, action, object_type, object_id, object_name, address, changes]
  // A database stores no half of a surrogate pair.
  const stored = said.map((value) => (typeof value === 'string' ? value.toWellFormed() : value))
  return hash('sha256', JSON.stringify([previous, position, ...stored]))
}

/** Entries that are chained at a time. */
const PAGE = 1000

/** Chains the entries of the audit trail by hashes. Entries of gateways of the version before are in no chain. */
export async function chainEntries(db: Kysely<Tables>): Promise<void> {
  const isPostgres = db.getExecutor().adapter instanceof PostgresAdapter
  await db.schema.alterTable('audit').addColumn('position', 'bigint').execute()
  for (const name of ['previous', 'hash']) await db.schema.alterTable('audit').addColumn(name, 'text').execute()
  await db.schema
    .createTable('audit_head')
    .addColumn('position', 'bigint', (column) => column.notNull())
    .addColumn('hash', 'text', (column) => column.notNull())
    .execute()
  await sql
    .raw(isPostgres ? 'alter table audit disable trigger audit_is_append_only' : 'drop trigger audit_refuses_update')
    .execute(db)
  await db
    .insertInto('audit_head')
    .values(await chain(db))
    .execute()
  await sql.raw(isPostgres ? 'alter table audit enable trigger audit_is_append_only' : REFUSE_UPDATE).execute(db)
  await db.schema.createIndex('audit_by_position').unique().on('audit').column('position').execute()
}

/** The trigger of migration 0002. */
const REFUSE_UPDATE = `
  create trigger audit_refuses_update before update on audit
  begin select raise(abort, 'the audit trail is append-only'); end
`

/** Chains all entries in their order. Resolves to the end of the chain. */
async function chain(db: Kysely<Tables>): Promise<Head> {
  let head: Head = { position: 0, hash: NO_HASH }
  for (;;) {
    const rows = await db
      .selectFrom('audit')
      .selectAll()
      .where('position', 'is', null)
      .orderBy('at')
      .orderBy('id')
      .limit(PAGE)
      .execute()
    if (rows.length === 0) return head
    for (const row of rows) {
      const link = { position: head.position + 1, previous: head.hash }
      head = { position: link.position, hash: hashOfEntry(row, link) }
      await db
        .updateTable('audit')
        .set({ ...link, hash: head.hash })
        .where('id', '=', row.id)
        .execute()
    }
  }
}
