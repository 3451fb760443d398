import type { Kysely } from 'kysely'

/** The name by which a client asked for a model, where it is an alias. Gateways of the version before leave it null. */
export async function up({ schema }: Kysely<never>): Promise<void> {
  await schema.alterTable('calls').addColumn('alias', 'text').execute()
}
