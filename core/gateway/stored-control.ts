import { basename } from 'node:path'
import { noteDeclaredAccounts } from '../accounts/accounts.ts'
import { audit, type Changes, GATEWAY } from '../accounts/audit.ts'
import { ledgerOf } from '../budgets/ledger.ts'
import { BudgetWatch } from '../budgets/watch.ts'
import type { BudgetsConfig, Config } from '../config/config.ts'
import { DatabaseValues } from '../kept/database-values.ts'
import { StoragesBySpace } from '../kept/storages.ts'
import { StoredValues } from '../kept/stored-values.ts'
import type { ValueStorage } from '../kept/value-store.ts'
import { hasBudgets } from '../keys/keys.ts'
import { StoredKeys } from '../keys/source.ts'
import { type CounterStorage, type QuotaAuthority, StoredAuthority } from '../limits/authority.ts'
import { DatabaseStorage } from '../limits/database-storage.ts'
import { measureValues } from '../observe/gateway-metrics.ts'
import type { Log } from '../observe/log.ts'
import type { Metrics } from '../observe/metrics.ts'
import type { Store } from '../store/database.ts'
import type { Instance } from '../telemetry/instance.ts'
import type { SpanExport, SpanExportOptions } from '../telemetry/span-export.ts'
import type { TracingSettings } from '../telemetry/trace-settings.ts'
import { placeOf } from '../text/diagnostic.ts'
import { newId } from '../text/ids.ts'
import type { CallJournal } from '../usage/call-journal.ts'
import { type CallRecorder, openUsage } from '../usage/recorder.ts'
import { DEFAULT_RETENTION, type Retention } from '../usage/retention.ts'
import type { ControlPlane } from './planes.ts'
import type { Reload } from './reload.ts'

/** The options of `openStoredControl`. */
export interface StoredControlOptions {
  readonly store: Store
  readonly log: Log
  readonly metrics: Metrics
  /** How long calls are stored. */
  readonly retention?: Retention
  /** The URL of a Redis or Valkey server, which keeps the counters of limits and values; else the database does. */
  readonly redis?: string
  /** The folder of the journals of this gateway's processes; absent: they have none. */
  readonly journals?: string
  /** The journal of this process, if it serves calls. */
  readonly journal?: CallJournal | undefined
  /** The version of the package. */
  readonly version: string
  readonly instance: Instance
  /** Absent: calls are not traced. */
  readonly tracing?: TracingSettings | undefined
}

/** The control plane of the process that has the database. */
export interface StoredControl extends ControlPlane {
  readonly recorder: CallRecorder
  readonly retention: Retention
  readonly authority: QuotaAuthority
  readonly values: StoredValues
  /** Notes the accounts of routes.yaml in the database. Logs a failure: the next reload tries again. */
  declareAccounts(config: Pick<Config, 'accounts'>): Promise<void>
  /** Whether a key or an account in the database has a budget; false if the database cannot be read. */
  hasBudgets(): Promise<boolean>
  /** Adds a reload to the audit trail. Logs a failure. */
  auditReload(reload: Reload): Promise<void>
  /** Begins to watch budgets. `settings`: those in use. */
  watchBudgets(settings: () => BudgetsConfig): void
  /** Writes what waits, and closes the store. */
  close(): Promise<void>
}

/** Opens the control plane on a store, which it closes at its end. */
export async function openStoredControl({
  store,
  log,
  metrics,
  redis,
  retention = DEFAULT_RETENTION,
  journals,
  journal,
  version,
  instance,
  tracing,
}: StoredControlOptions): Promise<StoredControl> {
  const keys = new StoredKeys(store)
  const durable = new DatabaseValues(store)
  const shared = redis === undefined ? { counters: new DatabaseStorage(store), values: durable } : await openRedis(redis, log)
  const onFault = (counter: string, err: unknown) =>
    log.warn({ err, reason: reasonOf(err), counter }, 'a counter of limits cannot be changed: it is kept by each process alone')
  const authority = new BudgetWatch({
    store,
    log,
    metrics,
    authority: new StoredAuthority(shared.counters, ledgerOf(store), onFault),
  })
  const storages = new StoragesBySpace({
    'call-states': shared.values,
    responses: durable,
    conversations: durable,
    background: durable,
  })
  const values = new StoredValues(storages, { onSwept: measureValues(metrics) })
  const holder = newId('prc')
  const spans = tracing && (await openSpans({ settings: tracing, log, metrics }, instance, version))
  const usage = openUsage({
    store,
    log,
    metrics,
    retention,
    spans,
    ...(journals !== undefined && { journals }),
    ...(journal && { journal }),
  })
  return {
    keys,
    authority,
    values,
    recorder: usage.recorder,
    retention,
    declareAccounts: ({ accounts }) =>
      noteDeclaredAccounts(store, new Map(Array.from(accounts, ([id, { at }]) => [id, placeOf(at)]))).catch((err: unknown) =>
        log.warn({ err, accounts: [...accounts.keys()] }, 'the accounts of routes.yaml are not in the database yet'),
      ),
    hasBudgets: () => hasBudgets(store).catch(() => false),
    auditReload: (reload) =>
      auditReload(store, reload).catch((err: unknown) => log.warn({ err }, 'a reload is not in the audit trail')),
    watchBudgets: (settings) => authority.start(settings),
    renewLeases: (requests) => authority.renew(holder, requests),
    async close() {
      await keys.close()
      await values.close()
      await authority.close()
      await usage.close()
      await spans?.close()
      await store.close()
    },
  }
}

/** Imported here: most gateways are not traced. */
async function openSpans(options: Omit<SpanExportOptions, 'origin'>, instance: Instance, version: string): Promise<SpanExport> {
  const { originOf } = await import('../telemetry/origin.ts')
  const { SpanExport } = await import('../telemetry/span-export.ts')
  return new SpanExport({ ...options, origin: originOf(instance, version) })
}

/** A reload by request that succeeds is recorded where it is requested, with who did so. */
async function auditReload({ db }: Store, { trigger, ok, file, sha256, diagnostics }: Reload): Promise<void> {
  if (ok && trigger === 'request') return
  const object = { type: 'config', id: null, name: basename(file) } as const
  const errors = diagnostics.map(({ line, message }) => `line ${line}: ${message}`)
  const changes: Changes = ok ? { sha256 } : { errors: [null, errors] }
  await audit(db, GATEWAY, { action: ok ? 'config.reload' : 'config.refuse', object, changes })
}

/** What gateways share. */
interface Shared {
  readonly counters: CounterStorage
  readonly values: ValueStorage
}

/** Imported here: most gateways need no client of Redis. */
async function openRedis(url: string, log: Log): Promise<Shared> {
  const { RedisConnection } = await import('../store/redis-connection.ts')
  const { RedisStorage } = await import('../limits/redis-storage.ts')
  const { RedisValues } = await import('../kept/redis-values.ts')
  let isAway = false
  const connection = new RedisConnection(url, {
    onError(err) {
      isAway = true
      log.warn({ err, reason: reasonOf(err) }, 'Redis cannot be reached')
    },
    onReady() {
      if (isAway) log.info({}, 'Redis can be reached again')
      isAway = false
    },
  })
  return { counters: new RedisStorage(connection), values: new RedisValues(connection) }
}

/** The message of an error of Redis: of commands of the gateway's own, which have no secrets. */
const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
