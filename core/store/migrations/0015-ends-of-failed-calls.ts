import { type Kysely, sql } from 'kysely'

/**
 * The last four characters of the ids of failed calls. Only of these: a failure is what is looked up by what was shown of its id, and an
 * index of the ends of all ids, which have no order, doubles the cost of a row.
 */
export async function up(db: Kysely<never>): Promise<void> {
  await sql`create index failed_calls_by_end on calls (substr(id, 33)) where fault is not null`.execute(db)
}
