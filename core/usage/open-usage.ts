import { CATALOGUE } from '../observe/catalogue.ts'
import type { Logger } from '../observe/log.ts'
import type { Metrics } from '../observe/metrics.ts'
import type { Store } from '../store/database.ts'
import { createCallWriter } from './call-writer.ts'
import { CallRecorder } from './recorder.ts'
import { type Keep, keepWithin } from './retention.ts'

/** What usage is made of. */
export interface UsageParts {
  readonly store: Store
  readonly log: Logger
  readonly metrics: Metrics
  readonly keep: Keep
}

/** Opens the record of calls: what the gateway writes down of them, and for how long. */
export function openUsage({ store, log, metrics, keep }: UsageParts): {
  readonly recorder: CallRecorder
  close(): Promise<void>
} {
  const writer = createCallWriter(store)
  const recorder = new CallRecorder({ writer, log, dropped: metrics.declare(CATALOGUE.usageRowsDropped) })
  const endRetention = keepWithin(keep, { writer, log })
  return {
    recorder,
    async close() {
      endRetention()
      await recorder.close()
      await writer.close()
    },
  }
}
