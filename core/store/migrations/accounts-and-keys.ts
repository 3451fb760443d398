import { type Kysely, PostgresAdapter, sql } from 'kysely'

/** The row that this migration inserts: independent of the current schema. */
interface SeededTables {
  accounts: { id: string; name: string; models: string; created_at: number }
}

/** Accounts, with the default account, and API keys. */
export async function createAccountsAndKeys(db: Kysely<SeededTables>): Promise<void> {
  await db.schema
    .createTable('accounts')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('models', 'text', (column) => column.notNull())
    .addColumn('rate_class', 'text')
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .execute()
  await db.schema
    .createTable('keys')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('account_id', 'text', (column) => column.notNull().references('accounts.id'))
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('digest', 'text', (column) => column.notNull().unique())
    .addColumn('prefix_shown', 'text', (column) => column.notNull())
    .addColumn('last_four', 'text', (column) => column.notNull())
    .addColumn('models', 'text', (column) => column.notNull())
    .addColumn('rate_class', 'text')
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('expires_at', 'bigint')
    .addColumn('revoked_at', 'bigint')
    .execute()
  await db.insertInto('accounts').values({ id: 'default', name: 'default', models: '["*"]', created_at: Date.now() }).execute()
}

/** The most keys that each account may have. */
export async function limitKeysOfAccounts({ schema }: Kysely<never>): Promise<void> {
  await schema
    .alterTable('accounts')
    .addColumn('max_keys', 'integer', (column) => column.notNull().defaultTo(100))
    .execute()
}

/** The longest life of the keys of each account. */
export async function limitLifeOfKeys({ schema }: Kysely<never>): Promise<void> {
  await schema.alterTable('accounts').addColumn('max_key_days', 'integer').execute()
}

/** Where routes.yaml declares an account, if it does. */
export async function addDeclarations({ schema }: Kysely<never>): Promise<void> {
  await schema.alterTable('accounts').addColumn('declared_at', 'text').execute()
}

/** When a key was disabled. Gateways of the version before accept such a key. */
export async function suspendKeys(db: Kysely<never>): Promise<void> {
  await db.schema.alterTable('keys').addColumn('disabled_at', 'bigint').execute()
  const change = `update of ${OF_KEYS} on keys`
  const statements =
    db.getExecutor().adapter instanceof PostgresAdapter
      ? [
          'drop trigger keys_tell_gateways on keys',
          `create trigger keys_tell_gateways after insert or delete or truncate or ${change} execute function umg_tell_gateways()`,
        ]
      : [
          'drop trigger keys_changed',
          `create trigger keys_changed after ${change} begin update key_changes set count = count + 1; end`,
        ]
  for (const statement of statements) await sql.raw(statement).execute(db)
}

/** The columns of keys that say what a key may do. */
const OF_KEYS = 'account_id, name, digest, models, rate_class, tags, budgets, expires_at, revoked_at, disabled_at'
