import type { Kysely } from 'kysely'

/** The most keys that each account may have. */
export async function up({ schema }: Kysely<never>): Promise<void> {
  await schema
    .alterTable('accounts')
    .addColumn('max_keys', 'integer', (column) => column.notNull().defaultTo(100))
    .execute()
}
