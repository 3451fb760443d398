import type { HostCounter } from '../sdk/api.ts'
import type { Log } from './log.ts'
import { METRICS } from './metric-definitions.ts'
import type { Metrics } from './metrics.ts'

/** Between two lines of the log with the same reason, in milliseconds: a process at its limit refuses thousands of calls. */
const QUIET_MS = 60_000

/** Counts what a process refuses because it has reached a limit of its own, by the reason, and names that in the log once a minute. */
export class ShedCounter implements HostCounter {
  readonly #counter: HostCounter
  readonly #log: Pick<Log, 'warn'>
  /** Monotonic milliseconds, by reason. */
  readonly #loggedAt = new Map<string, number>()

  constructor(metrics: Metrics, log: Pick<Log, 'warn'>) {
    this.#counter = metrics.declare(METRICS.shed)
    this.#log = log
  }

  add(amount: number, reason: string): void {
    this.#counter.add(amount, reason)
    if (amount === 0) return
    const now = performance.now()
    if (now - (this.#loggedAt.get(reason) ?? Number.NEGATIVE_INFINITY) < QUIET_MS) return
    this.#loggedAt.set(reason, now)
    this.#log.warn({ reason }, 'a limit of this process is reached, refusing calls or closing connections: see umg_shed_total')
  }
}
