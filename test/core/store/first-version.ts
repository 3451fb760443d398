import { Kysely, PostgresDialect, sql } from 'kysely'
import { Migrator } from 'kysely/migration'
import { Pool } from 'pg'
import * as accountsAndKeys from '../../../core/store/migrations/0001-accounts-and-keys.ts'
import { sqliteDialect } from '../../../core/store/sqlite-dialect.ts'
import { openSqliteFile } from '../../../core/store/sqlite-file.ts'

/** Makes the database of a URL as the first version of the gateway left it, with one key in it. */
export async function makeFirstVersion(url: string): Promise<void> {
  const dialect = url.startsWith('sqlite:')
    ? sqliteDialect(openSqliteFile(url.slice('sqlite:'.length)))
    : new PostgresDialect({ pool: new Pool({ connectionString: url }) })
  const db = new Kysely<never>({ dialect })
  const migrations = { '0001-accounts-and-keys': accountsAndKeys }
  const { error } = await new Migrator({ db, provider: { getMigrations: async () => migrations } }).migrateToLatest()
  if (error !== undefined) throw error
  await sql`
    insert into keys (id, account_id, name, kind, digest, prefix_shown, last_four, models, created_at)
    values ('key_1', 'default', 'one', 'live', 'd1', 'sk-live-0000', '0000', '["*"]', 1)
  `.execute(db)
  await db.destroy()
}
