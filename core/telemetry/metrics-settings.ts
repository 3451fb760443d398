import { chosen, MAX_DELAY_MS, numberOf, urlOf } from './variables.ts'

/** Where metrics are sent by OTLP. */
export interface MetricsExportSettings {
  /** The URL that takes metrics. */
  readonly url: string
  /** From one export to the next, in milliseconds. */
  readonly intervalMs: number
}

const DEFAULT_INTERVAL_MS = 60_000

/**
 * The settings of the export of metrics, by OpenTelemetry's variables; undefined if it is off, as it is without any of them. Throws an Error
 * that names a variable with an unknown value.
 */
export function metricsExportSettings(env: NodeJS.ProcessEnv): MetricsExportSettings | undefined {
  const url = urlOf(env, 'metrics')
  if (url === undefined) return undefined
  chosen(env, 'OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE', ['cumulative'])
  chosen(env, 'OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION', ['explicit_bucket_histogram'])
  const intervalMs = numberOf(env, 'OTEL_METRIC_EXPORT_INTERVAL', { min: 1, max: MAX_DELAY_MS }) ?? DEFAULT_INTERVAL_MS
  return { url, intervalMs }
}
