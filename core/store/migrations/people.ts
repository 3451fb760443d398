import { type Kysely, PostgresAdapter, sql } from 'kysely'

/** Users, their sessions and invitations, the audit trail, and the columns of keys that the console shows. */
export async function createPeople(db: Kysely<never>): Promise<void> {
  await createUsers(db)
  await createLinks(db)
  await createAudit(db)
  await extendKeys(db)
  if (db.getExecutor().adapter instanceof PostgresAdapter) await addTriggersOfPostgres(db)
  else await addTriggersOfSqlite(db)
}

async function createUsers({ schema }: Kysely<never>): Promise<void> {
  await schema
    .createTable('users')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('account_id', 'text', (column) => column.notNull().references('accounts.id'))
    .addColumn('email', 'text', (column) => column.notNull().unique())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('role', 'text', (column) => column.notNull())
    .addColumn('password', 'text')
    .addColumn('identity', 'text', (column) => column.unique())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('disabled_at', 'bigint')
    .addColumn('last_sign_in_at', 'bigint')
    .execute()
  await schema
    .createTable('sessions')
    .addColumn('digest', 'text', (column) => column.primaryKey())
    .addColumn('user_id', 'text', (column) => column.notNull().references('users.id'))
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('seen_at', 'bigint', (column) => column.notNull())
    .execute()
  await schema.createIndex('sessions_by_user').on('sessions').column('user_id').execute()
  await schema
    .createTable('sign_in_tries')
    .addColumn('subject', 'text', (column) => column.primaryKey())
    .addColumn('tries', 'integer', (column) => column.notNull())
    .addColumn('since', 'bigint', (column) => column.notNull())
    .execute()
}

async function createLinks({ schema }: Kysely<never>): Promise<void> {
  await schema
    .createTable('setup_links')
    .addColumn('digest', 'text', (column) => column.primaryKey())
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .execute()
  await schema
    .createTable('invitations')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('digest', 'text', (column) => column.notNull().unique())
    .addColumn('email', 'text', (column) => column.notNull())
    .addColumn('role', 'text', (column) => column.notNull())
    .addColumn('account_id', 'text', (column) => column.notNull().references('accounts.id'))
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('created_by', 'text', (column) => column.notNull())
    .addColumn('created_by_name', 'text', (column) => column.notNull())
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .execute()
}

async function createAudit({ schema }: Kysely<never>): Promise<void> {
  await schema
    .createTable('audit')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('at', 'bigint', (column) => column.notNull())
    .addColumn('actor_id', 'text')
    .addColumn('actor_name', 'text')
    .addColumn('action', 'text', (column) => column.notNull())
    .addColumn('object_type', 'text', (column) => column.notNull())
    .addColumn('object_id', 'text')
    .addColumn('object_name', 'text', (column) => column.notNull())
    .addColumn('address', 'text')
    .addColumn('changes', 'text', (column) => column.notNull())
    .execute()
  await schema.createIndex('audit_by_time').on('audit').columns(['at', 'id']).execute()
}

async function extendKeys(db: Kysely<never>): Promise<void> {
  const { schema } = db
  // One by one: SQLite adds one column a statement.
  await schema
    .alterTable('keys')
    .addColumn('tags', 'text', (column) => column.notNull().defaultTo('{}'))
    .execute()
  for (const name of ['created_by', 'created_by_name', 'replaces', 'replaced_by']) {
    await schema.alterTable('keys').addColumn(name, 'text').execute()
  }
  await schema.alterTable('keys').addColumn('last_used_at', 'bigint').execute()
  await schema.createIndex('keys_by_time').on('keys').columns(['created_at', 'id']).execute()
  await schema.createIndex('keys_by_account').on('keys').columns(['account_id', 'created_at', 'id']).execute()
  // Lists of accounts count these keys.
  await sql`create index keys_not_revoked on keys (account_id) where revoked_at is null`.execute(db)
}

async function addTriggersOfSqlite(db: Kysely<never>): Promise<void> {
  for (const change of ['update', 'delete']) {
    await sql`
      create trigger ${sql.raw(`audit_refuses_${change}`)} before ${sql.raw(change)} on audit
      begin select raise(abort, 'the audit trail is append-only'); end
    `.execute(db)
  }
}

/** A commit that changes what a key may do, in psql too, notifies every gateway (see `core/store/postgres.ts`). */
async function addTriggersOfPostgres(db: Kysely<never>): Promise<void> {
  const statements = [
    `create function umg_audit_is_append_only() returns trigger language plpgsql as
       $$ begin raise exception 'the audit trail is append-only'; end $$`,
    `create trigger audit_is_append_only before update or delete or truncate on audit
       execute function umg_audit_is_append_only()`,
    `create function umg_tell_gateways() returns trigger language plpgsql as
       $$ begin perform pg_notify('umg_keys', ''); return null; end $$`,
    // Not `last_used_at`: it changes often, and changes no permission.
    `create trigger keys_tell_gateways after insert or delete or truncate
       or update of account_id, name, digest, models, rate_class, tags, expires_at, revoked_at on keys
       execute function umg_tell_gateways()`,
    `create trigger accounts_tell_gateways after update of models, rate_class on accounts
       execute function umg_tell_gateways()`,
  ]
  for (const statement of statements) await sql.raw(statement).execute(db)
}

/** When the user of a session last proved who they are. Gateways of the version before leave it null: it is then the session's beginning. */
export async function addConfirmations({ schema }: Kysely<never>): Promise<void> {
  await schema.alterTable('sessions').addColumn('confirmed_at', 'bigint').execute()
}
