import { Kysely, PostgresDialect, sql } from 'kysely'
import { type Migration, Migrator } from 'kysely/migration'
import { Pool } from 'pg'
import { ConnectionPool } from '../../../core/store/connection-pool.ts'
import { MIGRATIONS } from '../../../core/store/migrate.ts'
import { LocalConnection } from '../../../core/store/sqlite-connection.ts'
import { sqliteDialect } from '../../../core/store/sqlite-dialect.ts'
import { openSqliteFile } from '../../../core/store/sqlite-file.ts'

/** The migrations and rows of a database of an older version of the gateway. */
export interface OldDatabase<Tables> {
  /** By name. */
  readonly migrations: Readonly<Record<string, Migration>>
  fill(db: Kysely<Tables>): Promise<unknown>
}

/** The migrations up to this one. */
export const migrationsTo = (last: string): Readonly<Record<string, Migration>> =>
  Object.fromEntries(Object.entries(MIGRATIONS).filter(([name]) => name <= last))

/** Creates the database of a URL as an older version of the gateway did. */
export async function makeOldDatabase<Tables>(url: string, { migrations, fill }: OldDatabase<Tables>): Promise<void> {
  await using opened = new AsyncDisposableStack()
  const db = opened.adopt(new Kysely<Tables>({ dialect: dialectOf(url, opened) }), (db) => db.destroy())
  const { error } = await new Migrator({ db, provider: { getMigrations: async () => migrations } }).migrateToLatest()
  if (error !== undefined) throw error
  await fill(db)
}

function dialectOf(url: string, opened: AsyncDisposableStack) {
  if (!url.startsWith('sqlite:')) return new PostgresDialect({ pool: new Pool({ connectionString: url }) })
  const connection = new LocalConnection(openSqliteFile(url.slice('sqlite:'.length)))
  opened.defer(() => connection.close())
  const pool = new ConnectionPool({ size: 1, wait: 1000, connect: () => connection })
  return sqliteDialect({ reads: pool, writes: pool })
}

/** A database of the first version of the gateway, with one key. */
export const FIRST_VERSION: OldDatabase<never> = {
  migrations: migrationsTo('0001-accounts-and-keys'),
  fill: (db: Kysely<never>) =>
    sql`
      insert into keys (id, account_id, name, kind, digest, prefix_shown, last_four, models, created_at)
      values ('key_1', 'default', 'one', 'live', 'd1', 'sk-live-0000', '0000', '["*"]', 1)
    `.execute(db),
}
