import type { Kysely } from 'kysely'

/** Limits and budgets of all gateways on this database: their counters, with the leases of processes. */
export async function up({ schema }: Kysely<never>): Promise<void> {
  await schema
    .createTable('quota_counters')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .execute()
}
