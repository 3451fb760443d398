import type { Gauge, Registry } from 'prom-client'
import { recentLags } from '../async/event-loop.ts'

/** The longest pause between two measurements of prom-client's own, in milliseconds. */
export const NO_MEASUREMENTS = 2 ** 31 - 1

/**
 * Sets prom-client's gauges of the event loop by the measurements of `EventLoopLag`: prom-client's own, a hundred a second, never rest.
 * Without a measurement since the last scrape they are 0.
 */
export function setLagGauges(registry: Registry): void {
  const gauge = (name: string) => registry.getSingleMetric(`nodejs_eventloop_lag_${name}`) as Gauge & { collect: () => void }
  const now = gauge('seconds')
  // It is the first to be collected.
  now.collect = () => {
    const startedAt = performance.now()
    setImmediate(() => now.set((performance.now() - startedAt) / 1000))
    const { count, min, max, mean, stddev } = recentLags
    const [p50, p90, p99] = [50, 90, 99].map((percentile) => recentLags.percentile(percentile))
    for (const [name, lag] of Object.entries({ min, max, mean, stddev, p50, p90, p99 }))
      gauge(`${name}_seconds`).set(count === 0 ? 0 : lag! / 1e9)
    recentLags.reset()
  }
}
