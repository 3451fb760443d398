import { Kysely, PostgresDialect, sql } from 'kysely'
import { type Migration, Migrator } from 'kysely/migration'
import { Pool } from 'pg'
import * as accountsAndKeys from '../../../core/store/migrations/0001-accounts-and-keys.ts'
import { sqliteDialect } from '../../../core/store/sqlite.ts'
import { openSqliteFile } from '../../../core/store/sqlite-file.ts'

/** The migrations and rows of a database of an older version of the gateway. */
export interface OldDatabase<Tables> {
  /** By name. */
  readonly migrations: Readonly<Record<string, Migration>>
  fill(db: Kysely<Tables>): Promise<unknown>
}

/** Creates the database of a URL as an older version of the gateway did. */
export async function makeOldDatabase<Tables>(url: string, { migrations, fill }: OldDatabase<Tables>): Promise<void> {
  const dialect = url.startsWith('sqlite:')
    ? sqliteDialect(openSqliteFile(url.slice('sqlite:'.length)))
    : new PostgresDialect({ pool: new Pool({ connectionString: url }) })
  const db = new Kysely<Tables>({ dialect })
  const { error } = await new Migrator({ db, provider: { getMigrations: async () => migrations } }).migrateToLatest()
  if (error !== undefined) throw error
  await fill(db)
  await db.destroy()
}

/** A database of the first version of the gateway, with one key. */
export const FIRST_VERSION: OldDatabase<never> = {
  migrations: { '0001-accounts-and-keys': accountsAndKeys },
  fill: (db: Kysely<never>) =>
    sql`
      insert into keys (id, account_id, name, kind, digest, prefix_shown, last_four, models, created_at)
      values ('key_1', 'default', 'one', 'live', 'd1', 'sk-live-0000', '0000', '["*"]', 1)
    `.execute(db),
}
