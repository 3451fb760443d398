import type { Kysely } from 'kysely'

/** The time that each link of the chain took of a call; unknown for earlier calls. */
export async function up({ schema }: Kysely<never>): Promise<void> {
  await schema
    .alterTable('calls')
    .addColumn('links', 'text', (column) => column.notNull().defaultTo('[]'))
    .execute()
}
