import type { Kysely } from 'kysely'

/** What calls cost. Gateways of the version before go on writing rows: they leave the cost unknown. */
export async function up({ schema }: Kysely<never>): Promise<void> {
  // One by one: SQLite adds one column a statement.
  await schema.alterTable('calls').addColumn('cost', 'bigint').execute()
  await schema.alterTable('calls').addColumn('currency', 'text').execute()
  await schema.alterTable('calls').addColumn('price', 'text').execute()
  for (const column of ['cost', 'priced'])
    await schema
      .alterTable('usage')
      .addColumn(column, 'bigint', (definition) => definition.notNull().defaultTo(0))
      .execute()
}
