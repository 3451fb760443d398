import type { DeclaredKey } from '../config/config.ts'
import type { KeyDirectory } from '../keys/directory.ts'
import type { Logger } from '../observe/log.ts'
import type { Metrics } from '../observe/metrics.ts'
import type { Call, Host, HostLog, Limits } from '../sdk/api.ts'
import { getJson } from '../upstream/get-json.ts'
import type { Workers } from '../workers/pool.ts'
import type { Life } from './instances.ts'

/** What every generation of plugins shares. */
export interface HostServices {
  readonly log: Logger
  readonly metrics: Metrics
  readonly keys: KeyDirectory
  readonly limits: Limits
  readonly workers: Workers
  /** The keys that the routing table in use declares, by digest. They count at once, as those of the store do. */
  readonly declaredKeys: { current: ReadonlyMap<string, DeclaredKey> }
}

/** What one plugin instance may use of core. */
export function createHost(services: HostServices, life: Life): Host {
  const { metrics, keys, limits, workers, declaredKeys } = services
  return {
    log: bind(services.log, life),
    metrics,
    keys: { verify: (secret) => keys.verify(secret, declaredKeys.current) },
    limits,
    countTokens: (call: Call) => workers.countTokens(call.splice({})),
    offload: (module, exportName, input) => workers.run(module, exportName, input),
    getJson,
    signal: life.signal,
  }
}

/** Where the plugin stands is looked up line by line: a reload may move it. */
function bind(log: Logger, life: Life): HostLog {
  const bound = (fields: Readonly<Record<string, unknown>>) => ({ plugin: life.plugin, at: life.at, ...fields })
  return {
    info: (fields, message) => log.info(bound(fields), message),
    warn: (fields, message) => log.warn(bound(fields), message),
    error: (fields, message) => log.error(bound(fields), message),
  }
}
