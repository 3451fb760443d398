import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { withTimeout } from '../async/timeout.ts'
import { CodedError } from '../errors.ts'
import type { Log } from '../observe/log.ts'
import { METRICS } from '../observe/metric-definitions.ts'
import type { Metrics } from '../observe/metrics.ts'
import type { HostCounter } from '../sdk/api.ts'
import { waitingTrace } from './call-trace.ts'
import type { Origin } from './origin.ts'
import { countSpans, spansOf, type TracedCall } from './spans.ts'
import type { TracingSettings } from './trace-settings.ts'

/** Calls in one export. Making and encoding their spans takes a millisecond or two of the event loop. */
const MAX_BATCH = 128
/** Calls in memory, some 4 MB without content. The spans of further calls are dropped. */
const MAX_WAITING = 4096
/** Deadline of the last exports, when the gateway ends. */
const LAST_EXPORT_MS = 5000

/** The options of a `SpanExport`. */
export interface SpanExportOptions {
  readonly settings: TracingSettings
  readonly origin: Origin
  readonly log: Pick<Log, 'info' | 'warn'>
  readonly metrics: Metrics
}

/** Sends the spans of calls to a collector by OTLP, in batches: no call waits for the collector or fails with it. */
export class SpanExport {
  readonly #exporter: OTLPTraceExporter
  readonly #origin: Origin
  readonly #delayMs: number
  readonly #log: SpanExportOptions['log']
  readonly #spans: HostCounter
  #waiting: TracedCall[] = []
  #timer: NodeJS.Timeout | undefined
  #exporting: Promise<void> | undefined
  #isLosing = false
  #isClosing = false

  constructor({ settings, origin, log, metrics }: SpanExportOptions) {
    this.#exporter = new OTLPTraceExporter({ url: settings.url })
    this.#origin = origin
    this.#delayMs = settings.delayMs
    this.#log = log
    this.#spans = metrics.declare(METRICS.traceSpans)
    for (const result of ['exported', 'failed', 'dropped']) this.#spans.add(0, result)
  }

  /** Exports the spans of a call that has ended, a moment later. */
  add(call: TracedCall): void {
    const ahead = this.#waiting.length
    if (ahead < MAX_WAITING) this.#waiting.push({ row: call.row, trace: waitingTrace(call.trace, ahead) })
    else this.#lose([call], 'dropped', new CodedError('COLLECTOR_TOO_SLOW', 'the collector is too slow'))
    this.#schedule()
  }

  /** Exports what waits, if the collector answers in time. No call may be added after this. */
  async close(): Promise<void> {
    this.#isClosing = true
    clearTimeout(this.#timer)
    await withTimeout(LAST_EXPORT_MS, this.#exportRest()).catch(() => undefined)
    if (this.#waiting.length > 0) this.#lose(this.#waiting, 'dropped', new CodedError('GATEWAY_ENDED', 'the gateway has ended'))
    await withTimeout(LAST_EXPORT_MS, this.#exporter.shutdown()).catch(() => undefined)
  }

  #schedule(): void {
    if (this.#exporting !== undefined || this.#isClosing || this.#waiting.length === 0) return
    if (this.#waiting.length >= MAX_BATCH) this.#export()
    else this.#timer ??= setTimeout(() => this.#export(), this.#delayMs).unref()
  }

  /** One batch at a time: a slow collector is not flooded. */
  #export(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#exporting = this.#exportBatch().finally(() => {
      this.#exporting = undefined
      this.#schedule()
    })
  }

  async #exportRest(): Promise<void> {
    await this.#exporting
    while (this.#waiting.length > 0) await this.#exportBatch()
  }

  async #exportBatch(): Promise<void> {
    const batch = this.#waiting.splice(0, MAX_BATCH)
    const spans = batch.flatMap((call) => spansOf(call, this.#origin))
    const error = await new Promise<Error | undefined>((resolve) =>
      this.#exporter.export(spans, ({ code, error: cause }) =>
        resolve(code === SUCCESS ? undefined : (cause ?? new CodedError('EXPORT_FAILED', 'the export failed'))),
      ),
    )
    if (error !== undefined) {
      this.#lose(batch, 'failed', error)
      return
    }
    this.#spans.add(spans.length, 'exported')
    if (this.#isLosing) this.#log.info({}, 'spans are exported again')
    this.#isLosing = false
  }

  #lose(calls: readonly TracedCall[], result: 'failed' | 'dropped', err: Error): void {
    this.#spans.add(
      calls.reduce((sum, call) => sum + countSpans(call), 0),
      result,
    )
    if (!this.#isLosing) this.#log.warn({ err }, 'spans are lost: they cannot be exported to the collector of traces')
    this.#isLosing = true
  }
}

/** `ExportResultCode.SUCCESS`. */
const SUCCESS = 0
