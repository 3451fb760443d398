import { type Kysely, PostgresAdapter, sql } from 'kysely'

/** SQLite removes the line that an `INSERT OR REPLACE` takes the place of without the trigger for deletions. PostgreSQL has no such statement. */
export async function up(db: Kysely<never>): Promise<void> {
  if (db.getExecutor().adapter instanceof PostgresAdapter) return
  await sql`
    create trigger audit_refuses_replace before insert on audit
    when exists (select 1 from audit where id = new.id or rowid = new.rowid)
    begin select raise(abort, 'the audit trail is append-only'); end
  `.execute(db)
}
