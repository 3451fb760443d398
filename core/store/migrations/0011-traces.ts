import type { Kysely } from 'kysely'

/** The trace of a call, if calls are traced. */
export async function up({ schema }: Kysely<never>): Promise<void> {
  await schema.alterTable('calls').addColumn('trace_id', 'text').execute()
}
