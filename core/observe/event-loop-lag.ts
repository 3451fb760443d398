import { createHistogram } from 'node:perf_hooks'
import type { Gauge, Registry } from 'prom-client'

/** Milliseconds between two measurements, each of which wakes up the process. */
const PERIOD_MS = 20

/** The longest pause between two measurements of prom-client's own, in milliseconds. */
export const NO_MEASUREMENTS = 2 ** 31 - 1

/** Since the last scrape, in nanoseconds. */
const unscraped = createHistogram()
/** The number of all measurements, and the sum of their lags in milliseconds. */
let total = { count: 0, sum: 0 }
let watchers = 0
let timer: NodeJS.Timeout | undefined
let measuredAt = 0

/** Measures how late the event loop of this process is, until `stop` is called: a process at rest is left alone. */
export class EventLoopLag {
  #last = total

  constructor() {
    if (++watchers > 1) return
    measuredAt = performance.now()
    timer = setInterval(measure, PERIOD_MS).unref()
  }

  /** The mean since this was called last, in milliseconds; 0 without a measurement. */
  mean(): number {
    const { count, sum } = this.#last
    this.#last = total
    return total.count === count ? 0 : (total.sum - sum) / (total.count - count)
  }

  /** Once. */
  stop(): void {
    if (--watchers === 0) clearInterval(timer)
  }
}

function measure(): void {
  const now = performance.now()
  const lag = Math.max(0, now - measuredAt - PERIOD_MS)
  measuredAt = now
  total = { count: total.count + 1, sum: total.sum + lag }
  unscraped.record(Math.max(1, Math.round(lag * 1e6)))
}

/**
 * Sets prom-client's gauges of the event loop by these measurements: its own, a hundred a second, never rest. Without a measurement since the last
 * scrape they are 0.
 */
export function setLagGauges(registry: Registry): void {
  const gauge = (name: string) => registry.getSingleMetric(`nodejs_eventloop_lag_${name}`) as Gauge & { collect: () => void }
  const now = gauge('seconds')
  // It is the first to be collected.
  now.collect = () => {
    const startedAt = performance.now()
    setImmediate(() => now.set((performance.now() - startedAt) / 1000))
    const { count, min, max, mean, stddev } = unscraped
    const [p50, p90, p99] = [50, 90, 99].map((percentile) => unscraped.percentile(percentile))
    for (const [name, lag] of Object.entries({ min, max, mean, stddev, p50, p90, p99 }))
      gauge(`${name}_seconds`).set(count === 0 ? 0 : lag! / 1e9)
    unscraped.reset()
  }
}
