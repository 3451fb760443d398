import { BoundedMap } from '../async/bounded-map.ts'
import type { BudgetsConfig } from '../config/config.ts'
import type { QuotaAuthority, StoredAuthority } from '../limits/authority.ts'
import { asBudgetCounter, type BudgetCounter } from '../limits/budget-counters.ts'
import type { Lease, LeaseRequest } from '../limits/counter.ts'
import { boundsOf } from '../limits/window.ts'
import type { Gauge } from '../observe/instruments.ts'
import type { Log } from '../observe/log.ts'
import { METRICS } from '../observe/metric-definitions.ts'
import type { Metrics } from '../observe/metrics.ts'
import type { Store } from '../store/database.ts'
import { NANO_USD } from '../text/money.ts'
import { BudgetAlerts } from './alerts.ts'
import { spentOf } from './ledger.ts'

/** How often budgets in use are compared with the ledger, in milliseconds. */
const COMPARE_MS = 2000
/** The most budgets of one comparison; the others follow with the next. */
const MAX_COMPARED = 500
/** The most budgets that are watched: those used last. */
const MAX_WATCHED = 10_000
/** The most budgets with metrics. */
const MAX_METRICS = 500
/** Comparisons after the last use: rows of calls are written some seconds after them. */
const COMPARISONS = 3

/** A budget in use. */
interface Watched {
  readonly counter: BudgetCounter
  /** Milliseconds since 1970. */
  readonly windowEnd: number
  /** Of the window, as the ledger said last. */
  spent: number
  /** The least that was lately asked for and refused. */
  refused: number
  /** How often it is still to be compared. */
  due: number
}

/** The options of a `BudgetWatch`. */
export interface BudgetWatchOptions {
  readonly store: Store
  readonly authority: StoredAuthority
  readonly log: Log
  readonly metrics: Metrics
}

/**
 * Watches the budgets that processes spend from: compares what the authority knows with the ledger, reports thresholds, and sets the
 * metrics.
 */
export class BudgetWatch implements QuotaAuthority {
  readonly #options: BudgetWatchOptions
  readonly #limit: Gauge
  readonly #spent: Gauge
  readonly #watched = new BoundedMap<string, Watched>(MAX_WATCHED)
  #alerts: BudgetAlerts | undefined
  #timer: NodeJS.Timeout | undefined
  #comparing: Promise<void> = Promise.resolve()

  constructor(options: BudgetWatchOptions) {
    this.#options = options
    this.#limit = options.metrics.declare(METRICS.budgetLimit)
    this.#spent = options.metrics.declare(METRICS.budgetSpent)
  }

  /** Renews leases by the authority. */
  async renew(holder: string, requests: readonly LeaseRequest[]): Promise<readonly (Lease | null)[]> {
    const leases = await this.#options.authority.renew(holder, requests)
    for (const [index, request] of requests.entries()) {
      const lease = leases[index]!
      if (lease !== null) this.#note(request, lease)
    }
    return leases
  }

  /** Begins to compare, and to tell of thresholds. `settings`: those in use. */
  start(settings: () => BudgetsConfig): void {
    this.#alerts = new BudgetAlerts({ ...this.#options, settings })
    this.#timer = setInterval(() => this.#compareOnce(), COMPARE_MS).unref()
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#comparing
    await this.#alerts?.close()
    await this.#options.authority.close()
  }

  #note({ counter, need }: LeaseRequest, { granted, windowEnd }: Lease): void {
    const budget = asBudgetCounter(counter)
    if (budget === undefined) return
    const known = this.#watched.get(budget.id)
    const isSame = known !== undefined && known.windowEnd === windowEnd && known.counter.limit === budget.limit
    const watched = isSame ? known : { counter: budget, windowEnd, spent: 0, refused: Infinity, due: 0 }
    watched.due = COMPARISONS
    // A call that is larger than the whole budget says nothing of it.
    if (!granted && need > 0 && need <= budget.limit) watched.refused = Math.min(watched.refused, need)
    if (!isSame) this.#watched.set(budget.id, watched)
  }

  #compareOnce(): void {
    this.#comparing = this.#comparing.then(() =>
      this.#compare().catch((err: unknown) => this.#options.log.warn({ err }, 'budgets cannot be compared with the ledger')),
    )
  }

  async #compare(): Promise<void> {
    const now = Date.now()
    for (const [id, { windowEnd }] of this.#watched) if (windowEnd <= now) this.#watched.delete(id)
    const due = [...this.#watched.values()].filter((watched) => watched.due > 0).slice(0, MAX_COMPARED)
    if (due.length > 0) await this.#compareAll(due)
    this.#setMetrics()
  }

  async #compareAll(due: readonly Watched[]): Promise<void> {
    const { store, authority } = this.#options
    const recorded = await spentOf(
      store,
      due.map(({ counter }) => counter),
    )
    await authority.reconcile(recorded)
    for (const watched of due) {
      const { counter, refused } = watched
      watched.spent = recorded.get(counter)!
      watched.due -= 1
      // The calls before it may not be in the ledger yet.
      if (watched.due === 0) watched.refused = Infinity
      // A window may have ended meanwhile.
      if (boundsOf(counter.window, Date.now()).end !== watched.windowEnd) continue
      const isExhausted = watched.spent + refused > counter.limit && refused !== Infinity
      await this.#alerts!.check(watched, isExhausted)
    }
  }

  /** Accounts first: there may be many keys. */
  #setMetrics(): void {
    this.#limit.clear()
    this.#spent.clear()
    const watched = [...this.#watched.values()].sort((a, b) => (a.counter.id < b.counter.id ? -1 : 1))
    for (const { counter, spent } of watched.slice(0, MAX_METRICS)) {
      const labels = [counter.owner.kind, counter.owner.id, counter.window.unit] as const
      this.#limit.set(counter.limit / NANO_USD, ...labels)
      this.#spent.set(spent / NANO_USD, ...labels)
    }
  }
}
