import { audit, GATEWAY } from '../accounts/audit.ts'
import { BoundedMap } from '../async/bounded-map.ts'
import type { BudgetsConfig } from '../config/config.ts'
import type { BudgetCounter } from '../limits/budget-counters.ts'
import { boundsOf } from '../limits/window.ts'
import type { Log } from '../observe/log.ts'
import type { Store } from '../store/database.ts'
import { formatBudget } from '../text/budgets.ts'
import { newId } from '../text/ids.ts'
import { formatUsd } from '../text/money.ts'
import { namesOf } from '../usage/names.ts'
import { endpointOf, Webhooks } from './webhooks.ts'

/** What is known of a budget in its current window. */
export interface BudgetState {
  readonly counter: BudgetCounter
  /** Milliseconds since 1970. */
  readonly windowEnd: number
  readonly spent: number
}

/** The body of a message to a webhook. */
interface BudgetMessage {
  readonly type: 'budget.threshold_reached'
  readonly timestamp: string
  readonly data: {
    readonly scope: BudgetCounter['owner']['kind']
    readonly id: string
    readonly name: string
    readonly budget: string
    readonly threshold_percent: number
    readonly limit_usd: string
    readonly spent_usd: string
    readonly began_at: string
    readonly renews_at: string
  }
}

/** The options of `BudgetAlerts`. */
export interface BudgetAlertsOptions {
  readonly store: Store
  readonly log: Log
  /** Those in use. */
  settings(): BudgetsConfig
}

/** The most thresholds that are remembered as reported: the database has all of them. */
const MAX_TOLD = 10_000

/**
 * Tells of the thresholds that budgets reach: by the audit trail, the log and webhooks. Once for each window, whichever gateway notices
 * it, and once more after the amount of the budget was changed.
 */
export class BudgetAlerts {
  readonly #options: BudgetAlertsOptions
  readonly #webhooks: Webhooks
  readonly #told = new BoundedMap<string, true>(MAX_TOLD)

  constructor(options: BudgetAlertsOptions) {
    this.#options = options
    const { store, log, settings } = options
    this.#webhooks = new Webhooks({ store, log, endpoints: () => settings().webhooks })
  }

  /** Tells of the thresholds that a budget has reached. `isExhausted`: a call was refused for what is left, which counts as nothing. */
  async check(state: BudgetState, isExhausted: boolean): Promise<void> {
    const { limit } = state.counter
    for (const threshold of this.#options.settings().alerts) {
      const isReached = state.spent >= (limit * threshold) / 100 || (isExhausted && threshold <= 100)
      if (isReached) await this.#tellOnce(state, threshold)
    }
  }

  close(): Promise<void> {
    return this.#webhooks.close()
  }

  async #tellOnce(state: BudgetState, threshold: number): Promise<void> {
    const { counter, windowEnd } = state
    const name = `${counter.id} ${windowEnd} ${counter.limit} ${threshold}`
    if (this.#told.get(name)) return
    const message = await this.#messageOf(state, threshold)
    const isFirst = await this.#write(state, threshold, message)
    this.#told.set(name, true)
    if (!isFirst) return
    this.#options.log.warn({ budget: message.data }, 'budget threshold reached')
    this.#webhooks.wake()
  }

  async #messageOf({ counter, spent }: BudgetState, threshold: number): Promise<BudgetMessage> {
    const { owner, limit, window } = counter
    const names = await namesOf(this.#options.store, `${owner.kind}s`, [owner.id])
    const now = Date.now()
    const { start, end } = boundsOf(window, now)
    return {
      type: 'budget.threshold_reached',
      timestamp: new Date(now).toISOString(),
      data: {
        scope: owner.kind,
        id: owner.id,
        name: names.get(owner.id) ?? owner.id,
        budget: formatBudget({ nanoUsd: limit, per: window.unit }),
        threshold_percent: threshold,
        limit_usd: formatUsd(limit),
        spent_usd: formatUsd(spent),
        began_at: new Date(start).toISOString(),
        renews_at: new Date(end).toISOString(),
      },
    }
  }

  /** Resolves to false if another gateway, or this one before a restart, has reported it. */
  #write({ counter, windowEnd }: BudgetState, threshold: number, message: BudgetMessage): Promise<boolean> {
    const { store, settings } = this.#options
    const { scope, id, name, budget, spent_usd, renews_at } = message.data
    return store.db.transaction().execute(async (db) => {
      const row = { counter: counter.id, window_end: windowEnd, amount: counter.limit, threshold }
      const { numInsertedOrUpdatedRows } = await db
        .insertInto('budget_alerts')
        .values(row)
        .onConflict((conflict) => conflict.columns(['counter', 'window_end', 'amount', 'threshold']).doNothing())
        .executeTakeFirstOrThrow()
      if (numInsertedOrUpdatedRows !== 1n) return false
      await db.deleteFrom('budget_alerts').where('counter', '=', counter.id).where('window_end', '<', Date.now()).execute()
      const changes = { budget, threshold_percent: threshold, spent_usd, renews_at }
      await audit(db, GATEWAY, {
        action: 'budget.alert',
        object: { type: scope, id, name },
        changes: Object.fromEntries(Object.entries(changes).map(([field, value]) => [field, [null, value]])),
      })
      const messages = settings().webhooks.map(({ url }) => ({
        id: newId('msg'),
        endpoint: endpointOf(url),
        created_at: Date.now(),
        body: JSON.stringify(message),
        tries: 0,
        due_at: Date.now(),
      }))
      if (messages.length > 0) await db.insertInto('webhook_messages').values(messages).execute()
      return true
    })
  }
}
