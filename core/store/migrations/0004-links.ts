import type { Kysely } from 'kysely'

/** What the links of the chain took of each call. Of calls that are there already it is not known. */
export async function up({ schema }: Kysely<never>): Promise<void> {
  await schema
    .alterTable('calls')
    .addColumn('links', 'text', (column) => column.notNull().defaultTo('[]'))
    .execute()
}
