import { StoredKeys } from '../keys/source.ts'
import type { Log } from '../observe/log.ts'
import type { Metrics } from '../observe/metrics.ts'
import { createMemoryLimits } from '../quota/memory.ts'
import type { Limits } from '../sdk/api.ts'
import type { Store } from '../store/database.ts'
import { type CallRecorder, openUsage } from '../usage/recorder.ts'
import { DEFAULT_RETENTION, type Retention } from '../usage/retention.ts'
import type { ControlPlane } from './planes.ts'

/** The options of `openStoredControl`. */
export interface StoredControlOptions {
  readonly store: Store
  readonly log: Log
  readonly metrics: Metrics
  /** How long calls are stored. */
  readonly retention?: Retention
}

/** The control plane of the process that has the database. */
export interface StoredControl extends ControlPlane {
  readonly recorder: CallRecorder
  /** Writes what waits, and closes the store. */
  close(): Promise<void>
}

/** Opens the control plane on a store, which it closes at its end. */
export function openStoredControl({ store, log, metrics, retention = DEFAULT_RETENTION }: StoredControlOptions): StoredControl {
  const keys = new StoredKeys(store)
  const limits: Limits = createMemoryLimits()
  const usage = openUsage({ store, log, metrics, retention })
  return {
    keys,
    limits,
    recorder: usage.recorder,
    async close() {
      await keys.close()
      await usage.close()
      await store.close()
    },
  }
}
