import type { Kysely } from 'kysely'

/** Where routes.yaml declares an account, if it does. */
export async function up({ schema }: Kysely<never>): Promise<void> {
  await schema.alterTable('accounts').addColumn('declared_at', 'text').execute()
}
