import { type Kysely, sql } from 'kysely'
import { type Migration, Migrator } from 'kysely/migration'
import {
  addDeclarations,
  createAccountsAndKeys,
  limitKeysOfAccounts,
  limitLifeOfKeys,
  suspendKeys,
} from './migrations/accounts-and-keys.ts'
import { chainEntries, refuseReplacements } from './migrations/audit-trail.ts'
import {
  addAliases,
  addCosts,
  addLinks,
  addSavings,
  addTraces,
  createCallsAndUsage,
  indexEndsOfFailedCalls,
} from './migrations/calls.ts'
import { createKeptValues } from './migrations/kept-values.ts'
import { createBudgets, createCounters } from './migrations/limits.ts'
import { addConfirmations, createPeople } from './migrations/people.ts'
import type { Schema } from './schema.ts'
import { StoreError } from './unavailable.ts'

/**
 * All migrations; their names sort oldest first. A published migration never changes: a new change is a new migration. Older versions of the
 * gateway survive it, on tables that have more than they know of; if they cannot, its name ends in `-breaking`.
 */
export const MIGRATIONS: Record<string, Migration> = {
  '0001-accounts-and-keys': { up: createAccountsAndKeys },
  '0002-people': { up: createPeople },
  '0003-calls': { up: createCallsAndUsage },
  '0004-links': { up: addLinks },
  '0005-audit-replacements': { up: refuseReplacements },
  '0006-costs': { up: addCosts },
  '0007-quota-counters': { up: createCounters },
  '0008-keys-of-accounts': { up: limitKeysOfAccounts },
  '0009-budgets': { up: createBudgets },
  '0010-declared-accounts': { up: addDeclarations },
  '0011-traces': { up: addTraces },
  '0012-aliases-of-calls': { up: addAliases },
  '0013-audit-chain': { up: chainEntries },
  '0014-confirmed-sessions': { up: addConfirmations },
  '0015-ends-of-failed-calls': { up: indexEndsOfFailedCalls },
  '0016-disabled-keys': { up: suspendKeys },
  '0017-life-of-keys': { up: limitLifeOfKeys },
  '0018-kept-values': { up: createKeptValues },
  '0019-savings': { up: addSavings },
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
