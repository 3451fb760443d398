import type { Log } from '../observe/log.ts'
import type { Instance } from '../telemetry/instance.ts'
import type { MetricsExport, MetricsExportOptions } from '../telemetry/metrics-export.ts'
import type { MetricsExportSettings } from '../telemetry/metrics-settings.ts'

/** The options of a gateway for the export of its metrics. */
export interface ExportedMetricsOptions {
  readonly log: Log
  /** The version of the package. */
  readonly version: string
  readonly instance: Instance
  /** Absent: metrics are not exported. */
  readonly metricsExport?: MetricsExportSettings | undefined
}

/** Begins to export metrics, if they are to be exported. */
export async function openMetricsExport(
  { log, version, instance, metricsExport: settings }: ExportedMetricsOptions,
  metrics: MetricsExportOptions['metrics'],
): Promise<MetricsExport | undefined> {
  if (settings === undefined) return undefined
  // Imported here: the metrics of most gateways are scraped.
  const { originOf } = await import('../telemetry/origin.ts')
  const { MetricsExport } = await import('../telemetry/metrics-export.ts')
  return new MetricsExport({ settings, log, metrics, origin: originOf(instance, version), startedAt: instance.startedAt })
}
