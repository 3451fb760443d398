import { type Kysely, sql } from 'kysely'
import { type Migration, Migrator } from 'kysely/migration'
import * as accountsAndKeys from './migrations/0001-accounts-and-keys.ts'
import * as people from './migrations/0002-people.ts'
import * as calls from './migrations/0003-calls.ts'
import * as links from './migrations/0004-links.ts'
import * as auditReplacements from './migrations/0005-audit-replacements.ts'
import * as costs from './migrations/0006-costs.ts'
import * as quotaCounters from './migrations/0007-quota-counters.ts'
import * as keysOfAccounts from './migrations/0008-keys-of-accounts.ts'
import * as budgets from './migrations/0009-budgets.ts'
import * as declaredAccounts from './migrations/0010-declared-accounts.ts'
import * as traces from './migrations/0011-traces.ts'
import * as aliasesOfCalls from './migrations/0012-aliases-of-calls.ts'
import * as auditChain from './migrations/0013-audit-chain.ts'
import * as confirmedSessions from './migrations/0014-confirmed-sessions.ts'
import * as endsOfFailedCalls from './migrations/0015-ends-of-failed-calls.ts'
import type { Schema } from './schema.ts'
import { StoreError } from './unavailable.ts'

/**
 * All migrations; their names sort oldest first. A published migration never changes: a new change is a new migration. Older versions of the
 * gateway survive it, on tables that have more than they know of; if they cannot, its name ends in `-breaking`.
 */
export const MIGRATIONS: Record<string, Migration> = {
  '0001-accounts-and-keys': accountsAndKeys,
  '0002-people': people,
  '0003-calls': calls,
  '0004-links': links,
  '0005-audit-replacements': auditReplacements,
  '0006-costs': costs,
  '0007-quota-counters': quotaCounters,
  '0008-keys-of-accounts': keysOfAccounts,
  '0009-budgets': budgets,
  '0010-declared-accounts': declaredAccounts,
  '0011-traces': traces,
  '0012-aliases-of-calls': aliasesOfCalls,
  '0013-audit-chain': auditChain,
  '0014-confirmed-sessions': confirmedSessions,
  '0015-ends-of-failed-calls': endsOfFailedCalls,
}

const NEWER =
  'The database was last used by a newer version of the gateway. Run that version, or restore a backup from before the update.'

/**
 * Migrates the tables in one transaction; if nothing is to be migrated, it only reads, so that no other gateway's writes are in its way.
 * Throws what the database throws, or `StoreError` if a newer gateway has migrated them so that this one cannot use them.
 */
export async function migrate(db: Kysely<Schema>): Promise<void> {
  const migrator = new Migrator({ db, provider: { getMigrations: async () => MIGRATIONS } })
  const known = await migrator.getMigrations()
  if (known.some(({ executedAt }) => executedAt !== undefined)) {
    const { rows } = await sql<{ name: string }>`select name from kysely_migration`.execute(db)
    checkMigrated(rows.map(({ name }) => name))
  }
  if (known.every(({ executedAt }) => executedAt !== undefined)) return
  const { error } = await migrator.migrateToLatest()
  if (error !== undefined) throw error
}

/** Throws `StoreError` if a newer gateway has executed migrations so that this one cannot use the tables. */
export function checkMigrated(executed: readonly string[]): void {
  const unknown = executed.filter((name) => !(name in MIGRATIONS))
  if (unknown.length === 0) return
  const isComplete = Object.keys(MIGRATIONS).every((name) => executed.includes(name))
  if (!isComplete || unknown.some((name) => name.endsWith('-breaking'))) throw new StoreError(NEWER)
}
