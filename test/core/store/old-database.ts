import { Kysely, PostgresDialect } from 'kysely'
import { type Migration, Migrator } from 'kysely/migration'
import { Pool } from 'pg'
import { sqliteDialect } from '../../../core/store/sqlite.ts'
import { openSqliteFile } from '../../../core/store/sqlite-file.ts'

/** How an older version of the gateway left its database. */
export interface OldDatabase<Tables> {
  /** Those that it knew, by name. */
  readonly migrations: Readonly<Record<string, Migration>>
  fill(db: Kysely<Tables>): Promise<unknown>
}

/** Makes the database of a URL as an older version of the gateway left it. */
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
