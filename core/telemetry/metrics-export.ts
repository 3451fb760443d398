import { setTimeout as delay } from 'node:timers/promises'
import { convertLegacyHttpOptions, createOtlpHttpExportDelegate } from '@opentelemetry/otlp-exporter-base/node-http'
import { MetricsExporterMetricsHelper, ProtobufMetricsSerializer } from '@opentelemetry/otlp-transformer'
import type { MetricData } from '@opentelemetry/sdk-metrics'
import { withTimeout } from '../async/timeout.ts'
import { CodedError } from '../errors.ts'
import type { Log } from '../observe/log.ts'
import type { MetricFamily } from '../observe/metrics.ts'
import { metricDataOf } from './metric-data.ts'
import type { MetricsExportSettings } from './metrics-settings.ts'
import type { Origin } from './origin.ts'

/** Series in one request. Encoding a histogram with this number takes some 10 ms of the event loop. */
const MAX_BATCH = 1000
/** Deadline of the last export, when the gateway ends. */
const LAST_EXPORT_MS = 5000

/** The options of a `MetricsExport`. */
export interface MetricsExportOptions {
  readonly settings: MetricsExportSettings
  readonly origin: Origin
  /** When the counters were 0. Milliseconds since 1970. */
  readonly startedAt: number
  readonly metrics: {
    /** The metrics of a scrape. */
    families(): AsyncIterable<MetricFamily>
  }
  readonly log: Pick<Log, 'info' | 'warn'>
}

/**
 * Sends what a scrape would show to a collector, by OTLP, at intervals. An export that fails is not sent again: the next one has the same
 * counters, with what was added. It has what the SDK's `OTLPMetricExporter` is made of, whose readers expect the SDK's own instruments.
 */
export class MetricsExport {
  readonly #options: MetricsExportOptions
  readonly #delegate
  readonly #closing = new AbortController()
  readonly #exporting: Promise<void>
  #isFailing = false

  constructor(options: MetricsExportOptions) {
    this.#options = options
    const http = convertLegacyHttpOptions({ url: options.settings.url }, 'METRICS', 'v1/metrics', {
      'Content-Type': 'application/x-protobuf',
    })
    this.#delegate = createOtlpHttpExportDelegate(
      http,
      ProtobufMetricsSerializer,
      'otlp_http_metric_exporter',
      MetricsExporterMetricsHelper,
      undefined,
    )
    this.#exporting = this.#exportAtIntervals()
  }

  /** Exports the last values, if the collector answers in time. */
  async close(): Promise<void> {
    this.#closing.abort()
    const last = this.#exporting.then(() => this.#export()).then(() => this.#delegate.shutdown())
    await withTimeout(LAST_EXPORT_MS, last).catch(() => undefined)
  }

  async #exportAtIntervals(): Promise<void> {
    const { signal } = this.#closing
    while (!signal.aborted) {
      await delay(this.#options.settings.intervalMs, undefined, { signal, ref: false }).catch(() => undefined)
      if (!signal.aborted) await this.#export()
    }
  }

  /** Exports all metrics. Logs a failure, once until an export succeeds. */
  async #export(): Promise<void> {
    const { log } = this.#options
    try {
      for await (const batch of this.#batches()) await this.#send(batch)
      if (this.#isFailing) log.info({}, 'metrics are exported again')
      this.#isFailing = false
    } catch (err) {
      if (!this.#isFailing) log.warn({ err }, 'metrics cannot be exported to their collector')
      this.#isFailing = true
    }
  }

  async *#batches(): AsyncGenerator<MetricData[]> {
    const { metrics, startedAt } = this.#options
    let batch: MetricData[] = []
    let size = 0
    for await (const family of metrics.families()) {
      const data = metricDataOf(family, { from: startedAt, to: Date.now() })
      if (size > 0 && size + data.dataPoints.length > MAX_BATCH) {
        yield batch
        batch = []
        size = 0
      }
      batch.push(data)
      size += data.dataPoints.length
    }
    yield batch
  }

  #send(metrics: MetricData[]): Promise<void> {
    const { resource, scope } = this.#options.origin
    return new Promise((resolve, reject) =>
      this.#delegate.export({ resource, scopeMetrics: [{ scope, metrics }] }, ({ code, error }) => {
        if (code === SUCCESS) resolve()
        else reject(error ?? new CodedError('EXPORT_FAILED', 'the export failed'))
      }),
    )
  }
}

/** `ExportResultCode.SUCCESS`. */
const SUCCESS = 0
