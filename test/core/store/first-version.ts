import { type Kysely, sql } from 'kysely'
import * as accountsAndKeys from '../../../core/store/migrations/0001-accounts-and-keys.ts'
import type { OldDatabase } from './old-database.ts'

/** The first version of the gateway, with one key. */
export const FIRST_VERSION: OldDatabase<never> = {
  migrations: { '0001-accounts-and-keys': accountsAndKeys },
  fill: (db: Kysely<never>) =>
    sql`
      insert into keys (id, account_id, name, kind, digest, prefix_shown, last_four, models, created_at)
      values ('key_1', 'default', 'one', 'live', 'd1', 'sk-live-0000', '0000', '["*"]', 1)
    `.execute(db),
}
