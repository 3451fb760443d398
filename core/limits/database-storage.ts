import { PostgresAdapter, sql, type Transaction } from 'kysely'
import type { Store } from '../store/database.ts'
import type { Schema } from '../store/schema.ts'
import type { CounterChange, CounterStorage } from './authority.ts'
import { type CounterState, parseState } from './counter.ts'

/** How often rows of counters that have ended are removed, in milliseconds. */
const SWEEP_MS = 60_000

/** A change of many counters succeeds or fails as a whole. */
const NONE: ReadonlyMap<string, unknown> = new Map()

/** States in the database, which all gateways on it share. */
export class DatabaseStorage implements CounterStorage {
  readonly #store: Store
  readonly #isPostgres: boolean
  readonly #sweep: NodeJS.Timeout

  constructor(store: Store) {
    this.#store = store
    this.#isPostgres = store.db.getExecutor().adapter instanceof PostgresAdapter
    this.#sweep = setInterval(() => void this.#removeEnded(), SWEEP_MS).unref()
  }

  change(changes: ReadonlyMap<string, CounterChange>): Promise<ReadonlyMap<string, unknown>> {
    // Always in the same order: transactions that lock the same rows never wait for each other in a circle.
    const ids = [...changes.keys()].sort()
    return this.#store.db.transaction().execute(async (transaction) => {
      const now = await this.#now(transaction)
      const states = await this.#lock(transaction, ids)
      const rows = ids.flatMap((id) => {
        const { apply, lifetime } = changes.get(id)!
        const state = apply(states.get(id), now)
        return state === undefined ? [] : [{ id, state: JSON.stringify(state), expires_at: now + lifetime }]
      })
      if (rows.length === 0) return NONE
      await transaction
        .insertInto('quota_counters')
        .values(rows)
        .onConflict((conflict) =>
          conflict
            .column('id')
            .doUpdateSet(({ ref }) => ({ state: ref('excluded.state'), expires_at: ref('excluded.expires_at') })),
        )
        .execute()
      return NONE
    })
  }

  async close(): Promise<void> {
    clearInterval(this.#sweep)
  }

  /** Gateways on several machines share the clock of their server. */
  async #now(transaction: Transaction<Schema>): Promise<number> {
    if (!this.#isPostgres) return Date.now()
    const { rows } = await sql<{ now: string }>`select floor(extract(epoch from clock_timestamp()) * 1000) as now`.execute(
      transaction,
    )
    return Number(rows[0]!.now)
  }

  /** Reads the states, and lets no other transaction change them. On SQLite a transaction is exclusive. */
  async #lock(transaction: Transaction<Schema>, ids: readonly string[]): Promise<ReadonlyMap<string, CounterState | undefined>> {
    if (this.#isPostgres)
      await transaction
        .insertInto('quota_counters')
        .values(ids.map((id) => ({ id, state: '', expires_at: Date.now() })))
        .onConflict((conflict) => conflict.column('id').doNothing())
        .execute()
    const query = transaction.selectFrom('quota_counters').selectAll().where('id', 'in', ids).orderBy('id')
    const rows = await (this.#isPostgres ? query.forUpdate() : query).execute()
    return new Map(rows.map(({ id, state }) => [id, parseState(state)]))
  }

  async #removeEnded(): Promise<void> {
    try {
      await this.#store.db
        .deleteFrom('quota_counters')
        .where('expires_at', '<', Date.now() - SWEEP_MS)
        .execute()
    } catch {
      // Removed the next time.
    }
  }
}
