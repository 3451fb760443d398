import { type Kysely, PostgresAdapter, sql } from 'kysely'

/** Limits and budgets of all gateways on this database: their counters, with the leases of processes. */
export async function createCounters({ schema }: Kysely<never>): Promise<void> {
  await schema
    .createTable('quota_counters')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .execute()
}

/** Budgets of accounts and keys, the thresholds that they have reached, and messages to webhooks that are not delivered yet. */
export async function createBudgets(db: Kysely<never>): Promise<void> {
  const { schema } = db
  for (const table of ['accounts', 'keys'])
    await schema
      .alterTable(table)
      .addColumn('budgets', 'text', (column) => column.notNull().defaultTo('[]'))
      .execute()
  await schema
    .createTable('budget_alerts')
    .addColumn('counter', 'text', (column) => column.notNull())
    .addColumn('window_end', 'bigint', (column) => column.notNull())
    .addColumn('amount', 'bigint', (column) => column.notNull())
    .addColumn('threshold', 'integer', (column) => column.notNull())
    .addPrimaryKeyConstraint('budget_alerts_key', ['counter', 'window_end', 'amount', 'threshold'])
    .execute()
  await schema
    .createTable('webhook_messages')
    .addColumn('id', 'text', (column) => column.notNull())
    .addColumn('endpoint', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('body', 'text', (column) => column.notNull())
    .addColumn('tries', 'integer', (column) => column.notNull())
    .addColumn('due_at', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('webhook_messages_key', ['id', 'endpoint'])
    .execute()
  await (db.getExecutor().adapter instanceof PostgresAdapter ? tellGateways(db) : countChanges(db))
}

/** The columns of keys that say what a key may do: those of migration 0002, and budgets. */
const OF_KEYS = 'account_id, name, digest, models, rate_class, tags, budgets, expires_at, revoked_at'

const OF_ACCOUNTS = 'models, rate_class, budgets'

async function tellGateways(db: Kysely<never>): Promise<void> {
  const statements = [
    'drop trigger keys_tell_gateways on keys',
    'drop trigger accounts_tell_gateways on accounts',
    `create trigger keys_tell_gateways after insert or delete or truncate or update of ${OF_KEYS} on keys
       execute function umg_tell_gateways()`,
    `create trigger accounts_tell_gateways after update of ${OF_ACCOUNTS} on accounts
       execute function umg_tell_gateways()`,
  ]
  for (const statement of statements) await sql.raw(statement).execute(db)
}

async function countChanges(db: Kysely<never>): Promise<void> {
  const changes = { keys_changed: `update of ${OF_KEYS} on keys`, accounts_changed: `update of ${OF_ACCOUNTS} on accounts` }
  for (const [name, change] of Object.entries(changes)) {
    await sql.raw(`drop trigger ${name}`).execute(db)
    await sql.raw(`create trigger ${name} after ${change} begin update key_changes set count = count + 1; end`).execute(db)
  }
}
