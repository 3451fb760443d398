import type { Middleware } from 'koa'
import { LIFECYCLE_BASE, lifecycleOperations } from '../control/config.ts'
import { consoleRouter } from '../control/console.ts'
import { healthRouter, type MonitoringServices, monitoringRouter } from '../control/monitoring.ts'
import { managementRouter } from '../control/router.ts'
import type { ManagementOptions, ManagementServices, Urls } from '../control/services.ts'
import type { Secret } from '../sdk/api.ts'
import type { Store } from '../store/database.ts'
import type { Reloader } from './reload.ts'
import type { Services } from './services.ts'
import type { StoredControl } from './stored-control.ts'

/** The options of the paths for operators. */
export interface OperatorOptions {
  readonly store: Store
  readonly version: string
  /** Required by `/metrics`, if set. */
  readonly metricsToken?: Secret
  readonly management?: ManagementOptions
}

/** The parts of a gateway that operators see. */
export interface OperatedParts extends Pick<MonitoringServices, 'metrics' | 'targets'> {
  readonly services: Services
  readonly control: StoredControl
  readonly reloader: Reloader
  /** Where the gateway listens; known when it does. */
  urls(): Urls
}

/** The middleware that serve the paths for operators: monitoring, console, management API. */
export function operatorPaths(options: OperatorOptions, parts: OperatedParts): readonly Middleware[] {
  const { services, control, reloader, metrics, targets, urls } = parts
  const management: ManagementServices = {
    ...options,
    ...options.management,
    log: services.log,
    recorder: control.recorder,
    retention: control.retention,
    live: reloader.live,
    targets,
    urls,
    config: () => reloader.state,
    reload: (trigger) => reloader.reload(trigger),
  }
  const monitoring: MonitoringServices = {
    metrics,
    targets,
    metricsToken: options.metricsToken,
    urls,
  }
  const routers = [
    healthRouter(services.unready),
    monitoringRouter(monitoring),
    consoleRouter(),
    managementRouter(management),
    managementRouter(management, lifecycleOperations, LIFECYCLE_BASE),
  ]
  return routers.map((router) => router.routes() as Middleware)
}
