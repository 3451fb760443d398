import type { Kysely } from 'kysely'

/** When the user of a session last proved who they are. Gateways of the version before leave it null: it is then the session's beginning. */
export async function up({ schema }: Kysely<never>): Promise<void> {
  await schema.alterTable('sessions').addColumn('confirmed_at', 'bigint').execute()
}
