import type { Kysely } from 'kysely'
import { type Migration, Migrator } from 'kysely/migration'
import * as accountsAndKeys from './migrations/0001-accounts-and-keys.ts'
import * as people from './migrations/0002-people.ts'
import * as calls from './migrations/0003-calls.ts'
import * as links from './migrations/0004-links.ts'
import * as auditReplacements from './migrations/0005-audit-replacements.ts'
import type { Schema } from './schema.ts'
import { StoreError } from './unavailable.ts'

/** Every migration, oldest first by name. A published one never changes: the next step is a new one. */
const MIGRATIONS: Record<string, Migration> = {
  '0001-accounts-and-keys': accountsAndKeys,
  '0002-people': people,
  '0003-calls': calls,
  '0004-links': links,
  '0005-audit-replacements': auditReplacements,
}

const NEWER =
  'The database was last used by a newer version of the gateway. Run that version, or put a backup from before the update in its place.'

/** Brings the tables up to date, in one transaction. Throws what the database threw, or `StoreError` where the tables are ahead of us. */
export async function migrate(db: Kysely<Schema>): Promise<void> {
  const migrator = new Migrator({ db, provider: { getMigrations: async () => MIGRATIONS } })
  const { error } = await migrator.migrateToLatest()
  // Kysely's words for a migration that the database has seen and this program has not.
  if (error instanceof Error && /previously executed migration .* is missing/.test(error.message)) throw new StoreError(NEWER)
  if (error !== undefined) throw error
}
