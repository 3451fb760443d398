import type { Kysely } from 'kysely'

/** Values that the gateway keeps for a while, by space, account and key. */
export async function createKeptValues({ schema }: Kysely<never>): Promise<void> {
  await schema
    .createTable('kept_values')
    .addColumn('space', 'text', (column) => column.notNull())
    .addColumn('account', 'text', (column) => column.notNull())
    .addColumn('key', 'text', (column) => column.notNull())
    .addColumn('value', 'text', (column) => column.notNull())
    .addColumn('size', 'integer', (column) => column.notNull())
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('kept_values_key', ['space', 'account', 'key'])
    .execute()
  // Answers how much an account has, and which of it is the oldest, without the values.
  await schema.createIndex('kept_values_by_age').on('kept_values').columns(['space', 'account', 'expires_at', 'size']).execute()
  await schema.createIndex('kept_values_by_end').on('kept_values').column('expires_at').execute()
}
